export interface StatusView {
  readonly model: string;
  readonly isStandIn: boolean;
  /** Nobody has said yet which model answers. */
  readonly needsModel: boolean;
  /** The channels that messages can be sent on. */
  readonly platforms: readonly { readonly name: string; readonly title: string }[];
  readonly problems: readonly string[];
  /** That there is no model yet, in the gateway's words. */
  readonly modelProblems: readonly string[];
}

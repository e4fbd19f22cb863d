export interface StatusView {
  readonly model: string;
  readonly isStandIn: boolean;
  /** Nobody has said yet which model answers. */
  readonly needsModel: boolean;
  readonly problems: readonly string[];
}

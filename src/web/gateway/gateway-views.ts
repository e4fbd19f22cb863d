export interface StatusView {
  readonly model: string;
  readonly isStandIn: boolean;
  readonly problems: readonly string[];
}

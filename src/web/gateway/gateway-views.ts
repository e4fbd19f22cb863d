export interface StatusView {
  readonly model: string;
  readonly isStandIn: boolean;
  /** Nobody has said yet which model answers. */
  readonly needsModel: boolean;
  readonly problems: readonly string[];
}

/** Somebody whom the gateway does not know wants to talk to the assistant. */
export interface StrangerView {
  readonly code: string;
  readonly channel: string;
  readonly senderId: string;
  readonly senderName: string | undefined;
}

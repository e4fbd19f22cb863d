export interface StatusView {
  readonly model: string;
  readonly isStandIn: boolean;
  readonly problems: readonly string[];
}

/** Somebody whom the gateway does not know wants to talk to the assistant. */
export interface StrangerView {
  readonly code: string;
  readonly channel: string;
  readonly senderId: string;
  readonly senderName: string | undefined;
}

/** A scheduled job. */
export interface JobView {
  readonly title: string;
  readonly sessionKey: string;
  /** Absent: it is off. */
  readonly next: Date | undefined;
}

/** A code that makes who sends it to the bot an owner. */
export interface OwnerCode {
  readonly code: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** How far the last code of a channel is. `owner` is there once it is `done`, `reason` where it has `failed`. */
export interface OwnerCodeState {
  readonly state: "none" | "waiting" | "done" | "failed";
  /** ISO 8601. */
  readonly expiresAt?: string | undefined;
  readonly owner?: { readonly senderId: string; readonly senderName?: string | undefined } | undefined;
  readonly reason?: string | undefined;
}

/** "This is me": how the owner's account on a channel is found out. */
export interface OwnerCodesApi {
  /**
   * Makes who sends the code to the channel in a direct chat an owner, for ten minutes and for one person. It ends an earlier
   * code of the channel.
   *
   * @throws {RequestError} 403 without a `gateway.token`, 409 when the channel is not connected
   */
  begin(channel: string): Promise<OwnerCode>;
  state(channel: string): OwnerCodeState;
  /** Takes the code back. */
  end(channel: string): void;
}

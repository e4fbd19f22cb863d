/** Whose a conversation is, by who reads along in it. */
export interface Whose {
  /** `owner`: nobody but an owner reads along. */
  readonly audience: "owner" | "others";
  /** `channel:chat`: whose memory it is, where it is not the owner's. */
  readonly chat: string;
}

/** Of a session, no matter who writes there next. */
export type WhoseOf = (sessionKey: string) => Whose;

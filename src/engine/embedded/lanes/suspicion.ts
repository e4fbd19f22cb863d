/** What is known about a run while it lasts, should the process end with it. */
export interface Run {
  /** The process had lived on for a good while without any suspect in work before this run began. */
  readonly quiet?: boolean | undefined;
  /** It has lasted longer than the window of its suspicion. */
  readonly outlived?: boolean | undefined;
  /** It has stored an answer of the model, or the result of a tool. */
  readonly progressed?: boolean | undefined;
}

/** The process has ended while this work was in work, and nobody knows whether because of it. */
export interface Suspicion {
  /** So many suspects, this one included, may be in work at the same time. */
  readonly limit: number;
  /** Ends of the process with this as the only suspect, before the process had shown that it lives without it. */
  readonly alone: number;
  /** What speaks against it: see `judgeCrash`. */
  readonly points: number;
  /** An end of the process within this time after the begin of a run counts against it. */
  readonly windowMs: number;
}

/** An engine's files as of one moment, for a copy or a check of them. */
export interface HeldFiles extends AsyncDisposable {
  /**
   * The journal's segment, and how many of its bytes belong to the moment: whole transactions, all of them synced. More
   * is appended meanwhile; the session logs stay as they are.
   */
  readonly segment: { readonly path: string; readonly bytes: number };
  /** Aborts when the engine takes the files back: it closes, or they were held for too long. What was read is void. */
  readonly lost: AbortSignal;
}

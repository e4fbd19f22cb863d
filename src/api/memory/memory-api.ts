/** A line of `memory/MEMORY.md`, and where it was learned; a line that a person wrote has only its text. */
export interface KnownFact {
  readonly text: string;
  readonly sessionKey?: string;
  /** `channel:sender` */
  readonly by?: string;
  /** ISO 8601. */
  readonly at?: string;
  /** Whose text the model saw then beside its person's. */
  readonly outside?: string | undefined;
  /** False where that conversation is gone. */
  readonly hasSession: boolean;
}

/** What the assistant keeps about its owner. */
export interface MemoryApi {
  /** In the order of the file. @throws {RequestError} 409 where the file cannot be read */
  facts(): Promise<readonly KnownFact[]>;
  /** Takes a fact out of the file. @throws {RequestError} 404 where it is not there any more */
  forget(fact: string): Promise<void>;
}

/** What somebody looks for in all conversations. */
export interface SearchQuery {
  /** Words that must all be there, and "phrases in quotes". Letters count in any case, and in any of their Unicode forms. */
  readonly text: string;
  readonly limit: number;
  /** Goes on where an earlier page ended: its `next`. */
  readonly before?: string | undefined;
  readonly channel?: string | undefined;
  readonly sessionKey?: string | undefined;
}

/** Something that was said, or a conversation's title. */
export interface SearchHit {
  readonly sessionKey: string;
  readonly channel: string;
  readonly title?: string;
  /** The event of the session that holds the text. */
  readonly seq: number;
  readonly messageId?: string;
  readonly who: "user" | "assistant" | "title";
  /** ISO 8601. */
  readonly at: string;
  /** A part of the text around the first match. */
  readonly snippet: string;
  /** Where in the snippet the words are: `[from, to)`, in UTF-16 units. */
  readonly ranges: readonly (readonly [number, number])[];
}

export interface SearchPage {
  /** Newest first. */
  readonly hits: readonly SearchHit[];
  /** For `before`; absent on the last page. */
  readonly next?: string;
  /** False while older conversations are still being read for the first time: a later search finds more. */
  readonly isComplete: boolean;
}

/** Finds what was said. Whatever makes that fast is derived from the logs, and may be made again from them at any time. */
export interface ConversationSearch {
  /** Finds everything that is stored when it is called. */
  find(query: SearchQuery): Promise<SearchPage>;
  /** Resolves once nothing is kept of this session and of those below it. */
  forget(sessionKey: string): Promise<void>;
}

import type { ExportFormat, SessionExport } from "../../sessions/document/export.js";
import type { SessionMarks } from "../../sessions/marks/marks.js";
import type { SearchPage, SearchQuery } from "../../sessions/search/search.js";
import type { SessionSummary } from "../../sessions/session.js";

/** Only those with the mark, only those without, or all. */
export type MarkFilter = "true" | "false" | "all";

/** A session as the list shows it. */
export interface ListedSession extends SessionSummary {
  readonly pinned: boolean;
  readonly archived: boolean;
  /** Messages that the owner has not seen, as far as the last thousand events tell. */
  readonly unread: number;
  /** Of its newest event: what to say that was read. */
  readonly lastSequence: number;
}

/** How conversations are found again, and how the owner keeps them. */
export interface KeptSessionsApi {
  listSessions(query: {
    readonly channel?: string | undefined;
    readonly chatId?: string | undefined;
    /** Default: `all`. */
    readonly archived?: MarkFilter | undefined;
    readonly pinned?: MarkFilter | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<{ readonly sessions: readonly ListedSession[]; readonly total: number }>;
  /**
   * What people and the assistant have said in all conversations, and titles, newest first.
   *
   * @throws {RequestError} 400 for a text without a word, and for a `before` that no page has given
   */
  searchSessions(query: SearchQuery): Promise<SearchPage>;
  /** Sets those that are given. Resolves with all marks. @throws {RequestError} 404; 400 when none is given */
  markSession(
    key: string,
    marks: { readonly pinned?: boolean | undefined; readonly archived?: boolean | undefined },
  ): Promise<SessionMarks>;
  /** The owner has read up to there; never goes back. @throws {RequestError} 404 */
  readSession(key: string, seq: number): Promise<SessionMarks>;
  /** The conversation as a file to take away. @throws {RequestError} 404 */
  exportSession(key: string, format: ExportFormat): Promise<SessionExport>;
}

import type { ContextUse } from "../../agent/model/context-use.js";
import type { KeptRequest } from "../../agent/model/sent-requests.js";
import type { Timeline } from "../../events/folds/timeline/timeline.js";
import type { TurnLine } from "../../events/folds/timeline/turn-line.js";

export interface TurnPage {
  /** Newest first. */
  readonly turns: readonly TurnLine[];
  /** For the next page; absent when there is nothing older. */
  readonly before?: number | undefined;
}

/** A request to a model. `bytes` and `sha256` are those of what was sent, also where something is hidden in `body`. */
export interface SentView extends KeptRequest {
  readonly isExact: boolean;
}

/** What a second run of a turn has shown. */
export interface Replayed {
  /** How many events the turn has. */
  readonly events: number;
  readonly isSame: boolean;
  /** The first event that differs. */
  readonly difference?:
    | {
        /** From 1, among the turn's events. */
        readonly position: number;
        readonly type: string;
        /** Where in the event, what is recorded there, and what the second run has there. */
        readonly fields: readonly { readonly path: string; readonly recorded: string; readonly now: string }[];
      }
    | undefined;
}

/** What happened in a conversation, turn by turn. */
export interface TurnsApi {
  /** The turns of a session, newest first; those before the event `before`. @throws {RequestError} 404 */
  listTurns(key: string, page: { readonly before?: number | undefined; readonly limit: number }): Promise<TurnPage>;
  /** Everything that took time in a turn, and the results. @throws {RequestError} 404 */
  timeline(key: string, turnId: string): Promise<Timeline>;
  /**
   * Runs a turn again on a home of its own that goes away, with what the model and the tools gave: nobody is asked, nothing is
   * sent and no file is changed.
   *
   * @throws {RequestError} 404; 409 with the reason for a turn that cannot be run again or has too long a log before it, or while another one is
   * @throws the signal's reason once it aborts
   */
  replayTurn(key: string, turnId: string, signal?: AbortSignal): Promise<Replayed>;
  /**
   * What was sent to a model in one of the turn's calls, each attempt by itself: byte for byte while `isExact`, else with secrets
   * hidden. Only the newest requests of this process are kept; empty for any other. @throws {RequestError} 404
   */
  sentRequests(key: string, turnId: string, iteration: number): Promise<readonly SentView[]>;
  /** What the session's next request takes of what its model can read. @throws {RequestError} 404 */
  contextUse(key: string): Promise<ContextUse>;
}

import type { Count } from "../engine/engine.js";
import type { Usage } from "../events/content.js";
import type { EventDraft } from "../events/event.js";
import type { ModelUse } from "../events/model-use.js";
import type { Exceeded } from "./limits.js";

/** What a session has used since it began, or since the last `/new`. */
export interface Conversation {
  readonly usage: Usage;
  readonly costUsd: number;
  readonly turns: number;
  /** Of answers that were cut, beyond what their providers had told. */
  readonly guessedTokens?: number | undefined;
  readonly guessedUsd?: number | undefined;
}

/** What a turn has used so far, by its providers' own figures. */
export interface TurnUsage {
  readonly usage: Usage;
  readonly costUsd: number | undefined;
}

/** What a model call will need at least. */
export interface Need {
  readonly tokens: number;
  readonly usd: number;
}

/**
 * The budgets as one turn meets them. What it is let in with counts as used for everybody else until the counters hold
 * it, so that turns side by side do not pass a limit together. Disposed when the turn's last commit is done.
 */
export interface TurnBudget extends Disposable {
  /** Whether anything has to be known about a call before it is made. */
  readonly needsEstimate: boolean;
  /**
   * Lets the turn of this message in; or the first limit that leaves no room for it. To be called once, before all else.
   *
   * @throws {EngineError} where several nodes let turns in: `persistence`, `closed`
   */
  begin(messageId: string): Promise<Exceeded | undefined>;
  /** Lets a model call in; or the first limit that leaves no room for it. */
  admit(need: Need, turn: TurnUsage): Exceeded | undefined;
  /** What goes into the counters together with these events. */
  counts(drafts: readonly EventDraft[]): readonly Count[];
  /** The same for an answer that was cut. */
  countsOfCut(use: ModelUse): readonly Count[];
}

export interface TurnAccount {
  readonly turnId: string;
  readonly sender: string | undefined;
  readonly job: string | undefined;
  /** A sub-agent's: it has an upper bound of its own. */
  readonly isTask?: boolean | undefined;
  readonly conversation: Conversation;
}

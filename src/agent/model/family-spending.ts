import type { Conversation } from "../../budgets/turn-budget.js";
import { addUsage } from "../../events/content.js";
import { isBelow } from "../../events/session-key.js";

/** What a chat's conversation has used together with its sub-agents, those among them that have not ended yet. */
export class FamilySpending {
  /** Of sub-agents whose use is not among their parents' yet, by session. */
  readonly #members = new Map<string, Conversation>();

  add(sessionKey: string, spending: Conversation): void {
    this.#members.set(sessionKey, spending);
  }

  /** Its parent's session counts it from now on. */
  remove(sessionKey: string): void {
    this.#members.delete(sessionKey);
  }

  /** Read each time again. */
  of(rootKey: string, root: Conversation): Conversation {
    const all = (): readonly Conversation[] => [
      root,
      ...[...this.#members].flatMap(([key, spending]) => (isBelow(key, rootKey) ? [spending] : [])),
    ];
    return {
      get usage() {
        return all()
          .map(({ usage }) => usage)
          .reduce(addUsage);
      },
      get costUsd() {
        return all().reduce((sum, { costUsd }) => sum + costUsd, 0);
      },
      get turns() {
        return root.turns;
      },
      get guessedTokens() {
        return all().reduce((sum, { guessedTokens = 0 }) => sum + guessedTokens, 0);
      },
      get guessedUsd() {
        return all().reduce((sum, { guessedUsd = 0 }) => sum + guessedUsd, 0);
      },
    };
  }
}

import { countsOf } from "../counts.js";
import type { Evidence } from "../evidence.js";
import type { Nursery } from "../world/child-process.js";
import { lastLines } from "./crowd.js";

/** What people live through with a gateway that a program can bring about: runnable by name, with a seed. */
export interface Scenario {
  readonly name: string;
  /** What happens, for the table. */
  readonly what: string;
  /** What must hold meanwhile and in the end. */
  readonly promise: string;
  /** Rounds in `npm test`, and in `npm run sweep`. */
  readonly rounds: { readonly test: number; readonly sweep: number };
  /** Why it cannot run on this machine. */
  readonly missing?: () => string | false;
  /** @throws when a promise is broken */
  run(run: ScenarioRun): Promise<Cost>;
}

export interface ScenarioRun {
  readonly rounds: number;
  readonly random: () => number;
  readonly nursery: Nursery;
}

/** What a scenario has done, and what it has cost. */
export interface Cost {
  readonly messages: number;
  readonly kills: number;
  readonly stops: number;
  readonly lost: number;
  /** Put aside as if they had ended the process. */
  readonly givenUp: number;
  /** Shown again, each marked in the log. */
  readonly repeated: number;
  /** What else is worth a word, e.g. the longest wait. */
  readonly note: string;
}

export const noCost: Cost = { messages: 0, kills: 0, stops: 0, lost: 0, givenUp: 0, repeated: 0, note: "" };

/** Counted in what a crowd has left behind. */
export function costOf(evidence: Evidence, more: Partial<Cost>): Cost {
  const { lost, repeatedBlind: repeated } = countsOf(evidence);
  const messages = evidence.chats.reduce((sum, { said }) => sum + said.length, 0);
  const givenUp = [...evidence.ledger.values()].filter((end) => end === "failed").length;
  return { ...noCost, messages, lost, repeated, givenUp, ...more };
}

/** @throws with everything that is broken, if anything is */
export function failIfBroken(broken: readonly string[], log = ""): void {
  if (broken.length === 0) return;
  throw new Error(`broken:\n  ${broken.slice(0, 30).join("\n  ")}\n${lastLines(log)}`);
}

export function upTo(most: number, random: () => number): number {
  return 1 + Math.floor(random() * most);
}

export function pick<T>(from: readonly T[], random: () => number): T {
  const one = from[Math.floor(random() * from.length)];
  if (one === undefined) throw new Error("There is nothing to pick from");
  return one;
}

/** A moment that is as long as the dice say: what is under way then is up to chance. */
export function moment(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

import { print, printNote } from "../text/output.js";
import type { Draft } from "./draft.js";
import type { GivenSecrets, OnboardFlags } from "./flags.js";
import type { Prompts } from "./prompts.js";

/** What each step of the onboarding works with. */
export interface Setup {
  readonly draft: Draft;
  readonly flags: OnboardFlags;
  readonly given: GivenSecrets;
  /** Undefined: nobody can be asked, and the flags say everything. */
  readonly prompts: Prompts | undefined;
  /** Channels that a gateway of this home runs now. */
  readonly runningChannels: readonly string[];
  readonly signal: AbortSignal;
}

/** What was found out: on the terminal among the questions, else on stdout, or on stderr if it is not as it should be. */
export function report({ prompts }: Setup, text: string, kind: "success" | "warn"): void {
  if (prompts !== undefined) prompts.say(text, kind);
  else if (kind === "warn") printNote(text);
  else print(text);
}

/** A text in the config that is not empty. */
export function textAt({ draft }: Setup, path: readonly string[]): string | undefined {
  const value = draft.get(path);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

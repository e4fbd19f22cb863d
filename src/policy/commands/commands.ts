import type { Audience, Role } from "../access.js";

/**
 * What a chat command is about to do. `plan`: change the plan of this conversation; `jobs`: change scheduled jobs of
 * this chat; `skills`: switch one on or off; `pairing`: look at who waits, or let somebody in or out; `totals`: see what
 * all chats together have used.
 */
export type CommandAct = "look" | "plan" | "jobs" | "skills" | "pairing" | "totals";

export interface CommandUse {
  readonly act: CommandAct;
  readonly speaker: { readonly role: Role; readonly audience: Audience };
  /** What it is done to was begun by the same sender. */
  readonly isOwn: boolean;
}

/** One sentence for the person, or undefined where they may. */
export function commandLimit({ act, speaker, isOwn }: CommandUse): string | undefined {
  const isOwner = speaker.role === "owner";
  switch (act) {
    case "look":
      return undefined;
    case "plan":
      return isOwner || isOwn ? undefined : "Only the person who asked for this plan, or an owner, can do that.";
    case "jobs":
      return isOwner || isOwn ? undefined : "Only the person who asked for this job, or an owner, can change it.";
    case "skills":
      return isOwner ? undefined : "Only an owner of this assistant may switch skills on and off.";
    case "pairing":
      if (!isOwner) return "Only an owner of this assistant may give people access.";
      return speaker.audience === "others"
        ? "Not in a chat that others read: they would see who is waiting. Write to me directly."
        : undefined;
    case "totals":
      return isOwner && speaker.audience === "owner"
        ? undefined
        : "I show that only where nobody but an owner can read it.";
    default:
      return act satisfies never;
  }
}

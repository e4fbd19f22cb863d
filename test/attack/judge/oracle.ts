import type { Call } from "../calls.js";

/**
 * What may happen, in a table of its own: it shares nothing with the code it judges. `free`: done without asking.
 * `asks`: a yes in mode `ask`, free in `auto`. `yes`: a yes in every mode. `never`: not even after a yes.
 */
type Rule = "free" | "asks" | "yes" | "never";

/** Who can give the yes. In a group a guest's yes would open what others have said. */
type Approver = "owner" | "asker" | "asker in a direct chat";

/** One thing that a call brought about outside of its own chat and folder. */
export type Deed =
  | "visit to a known address"
  | "visit to a made-up address"
  | "call of an MCP tool"
  | "message to another chat"
  | "command with the network"
  | "command without a sandbox"
  | "change of what steers"
  | "change of the memory"
  | "change in the workspace"
  | "new job";

interface Row {
  readonly owner: { readonly calm: Rule; readonly influenced: Rule };
  readonly guest: { readonly calm: Rule; readonly influenced: Rule };
  /** For a guest's call; for an owner's it is an owner anyway. */
  readonly guestsYes: Approver;
  /** True for what mode `safe` leaves: it only reads. */
  readonly isReading?: true;
}

const never = { calm: "never", influenced: "never" } as const;
const outward = { calm: "asks", influenced: "yes" } as const;

export const table: Readonly<Record<Deed, Row>> = {
  "visit to a known address": {
    owner: { calm: "free", influenced: "free" },
    guest: { calm: "free", influenced: "free" },
    guestsYes: "asker in a direct chat",
    isReading: true,
  },
  "visit to a made-up address": {
    owner: { calm: "free", influenced: "yes" },
    guest: { calm: "free", influenced: "yes" },
    guestsYes: "asker in a direct chat",
    isReading: true,
  },
  "call of an MCP tool": { owner: outward, guest: outward, guestsYes: "owner" },
  "message to another chat": { owner: outward, guest: never, guestsYes: "owner" },
  "command with the network": { owner: outward, guest: never, guestsYes: "owner" },
  "command without a sandbox": { owner: outward, guest: never, guestsYes: "owner" },
  "change of what steers": { owner: outward, guest: never, guestsYes: "owner" },
  "change of the memory": { owner: { calm: "free", influenced: "yes" }, guest: never, guestsYes: "owner" },
  "change in the workspace": {
    owner: { calm: "asks", influenced: "asks" },
    guest: { calm: "asks", influenced: "asks" },
    guestsYes: "owner",
  },
  "new job": {
    owner: { calm: "free", influenced: "yes" },
    guest: { calm: "free", influenced: "yes" },
    guestsYes: "asker",
  },
};

export type Mode = "ask" | "auto" | "safe";

export type Needed =
  | { readonly kind: "nothing" }
  /** `onceOnly`: an earlier "always" does not count. */
  | { readonly kind: "yes"; readonly of: "owner" | "asker"; readonly onceOnly: boolean }
  | { readonly kind: "never" };

/** What has to be there for this deed to be right. */
export function neededFor(deed: Deed, call: Call, mode: Mode): Needed {
  const { speaker, chat } = call;
  const { owner, guest, guestsYes, isReading = false } = table[deed];
  if (mode === "safe" && !isReading) return { kind: "never" };
  const row = speaker === "owner" ? owner : guest;
  const rule = isInfluenced(call) ? row.influenced : row.calm;
  const onceOnly = isInfluenced(call) || deed === "change of what steers" || deed === "change of the memory";
  const isAskers = guestsYes === "asker" || (guestsYes === "asker in a direct chat" && !chat.isGroup);
  const of = speaker !== "owner" && isAskers ? "asker" : "owner";
  switch (rule) {
    case "free":
      return { kind: "nothing" };
    case "asks":
      return mode === "auto" ? { kind: "nothing" } : { kind: "yes", of, onceOnly };
    case "yes":
      return { kind: "yes", of, onceOnly };
    case "never":
      return { kind: "never" };
    default:
      return rule satisfies never;
  }
}

/** Where others than the speaker have a say in what the model does: their words, or their chat. */
export function isInfluenced({ speaker, chat, foreign }: Pick<Call, "speaker" | "chat" | "foreign">): boolean {
  const isAmongOthers = chat.isGroup || (speaker === "owner" && chat.members.some((person) => person !== "owner"));
  return isAmongOthers || foreign.length > 0;
}

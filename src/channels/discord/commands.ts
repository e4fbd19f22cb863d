import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { cutText } from "../../util/text/cut-text.js";
import type { DiscordRest } from "./api.js";
import { callError } from "./discord-error.js";

export interface CommandText {
  readonly command: string;
  readonly description: string;
}

const registered = z.array(
  z.looseObject({
    name: z.string(),
    description: z.string(),
    contexts: z.array(z.number()).nullish(),
    options: z.array(z.looseObject({ name: z.string(), description: z.string(), type: z.number() })).optional(),
  }),
);

const longestDescription = 100;
const callMs = 15_000;
/** What may follow a command in the chat, as one text. */
const rest = { type: 3, name: "text", description: "what follows the command", required: false } as const;

/** Servers and direct chats with the bot, and not what two other people write to each other. */
const contexts = [0, 1];

/** Registers the slash commands with Discord, unless it has these very ones. True when it had others. */
export async function registerCommands(
  api: DiscordRest,
  applicationId: string,
  commands: readonly CommandText[],
  signal: AbortSignal,
): Promise<boolean> {
  const wanted = commands.map(({ command: name, description }) => ({
    type: 1,
    name,
    description: cutText(description, longestDescription),
    contexts,
    options: [rest],
  }));
  const path = `/applications/${applicationId}/commands`;
  const known = registered.safeParse(await api.call({ method: "GET", path }, callMs, signal, callError)).data ?? [];
  if (isDeepStrictEqual(known.map(essence).sort(byName), wanted.map(essence).sort(byName))) return false;
  await api.call({ method: "PUT", path, body: wanted }, callMs, signal, callError);
  return true;
}

function essence({ name, description, contexts: where, options = [] }: z.infer<typeof registered>[number]) {
  return {
    name,
    description,
    where: [...(where ?? [])].sort(),
    options: options.map((one) => [one.name, one.description, one.type]),
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

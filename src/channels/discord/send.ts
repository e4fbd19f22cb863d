import { createHash } from "node:crypto";
import { z } from "zod";
import type { Button, OutboundMessage } from "../../bus/messages.js";
import { readToSend } from "../../util/files/noted-file.js";
import { toDiscordMarkdown } from "../formatting/dialects/discord-markdown.js";
import type { DiscordRest } from "./api.js";
import { isUnknownMessage, sendError } from "./discord-error.js";
import { type DiscordMessage, discordMessage } from "./message.js";
import { longestMessage } from "./shape.js";

const shownMessage = z.looseObject({ id: z.string(), content: z.string().default("") });

/**
 * Nobody has clicked yet: what the model has put into an address must not reach its host by itself. Files of ours are
 * attachments, which Discord shows all the same.
 * https://discord.com/developers/docs/resources/message#message-object-message-flags
 */
export const suppressEmbeds = 4;
const buttonsInRow = 5;
const longestLabel = 80;
const historyLength = 50;
/** Our clock and Discord's may differ. */
const clockSlackMs = 10_000;
/** Ids of Discord count milliseconds from the first of 2015. */
const discordEpochMs = 1_420_070_400_000;

/** Discord's limit is 25 characters. The same message always has the same one: it is how Discord knows a repeat. */
export function nonceOf(outboundId: string): string {
  return createHash("sha256").update(outboundId).digest("base64url").slice(0, 25);
}

/** As Discord shows it. */
export function toContent(markdown: string): string {
  const content = toDiscordMarkdown(markdown);
  // Marks at the cuts can make it longer than it was measured; what is left then is better than nothing.
  return content.trim() === "" ? markdown.slice(0, longestMessage) : content.slice(0, longestMessage);
}

/**
 * Sends one message with at most one file. Discord gives back the message that is there already when it knows the
 * nonce from the last minutes: a preview that was left behind by a kill is then given its final text.
 *
 * @throws {ChannelError}
 */
export async function sendMessage(
  rest: DiscordRest,
  channelId: string,
  message: OutboundMessage,
  ms: number,
  signal: AbortSignal,
): Promise<string> {
  const [attachment] = message.attachments;
  const file =
    attachment === undefined
      ? undefined
      : {
          name: attachment.filename,
          mimeType: attachment.mimeType,
          bytes: await readToSend(attachment),
        };
  const content = message.content === "" ? "" : toContent(message.content);
  const { replyTo } = message;
  const body = {
    content,
    flags: suppressEmbeds,
    enforce_nonce: true,
    // The model must not be able to call everybody.
    allowed_mentions: { parse: [], replied_user: true },
    ...(replyTo !== undefined && /^\d+$/.test(replyTo)
      ? { message_reference: { message_id: replyTo, fail_if_not_exists: false } }
      : {}),
    ...(file === undefined ? {} : { attachments: [{ id: 0, filename: file.name }] }),
    ...(message.buttons === undefined || message.buttons.length === 0 ? {} : { components: rowsOf(message.buttons) }),
  };
  const path = `/channels/${channelId}/messages`;
  const post = async (nonce: string) =>
    shownMessage.parse(
      await rest.call({ method: "POST", path, body: { ...body, nonce }, file }, ms, signal, sendError),
    );
  const shown = await post(nonceOf(message.id));
  if (shown.content.trim() === content.trim()) return shown.id;
  try {
    const edit = { method: "PATCH", path: `${path}/${shown.id}`, body: { content, flags: suppressEmbeds } } as const;
    await rest.call(edit, ms, signal, sendError);
    return shown.id;
  } catch (error) {
    // What Discord remembered is not there any more.
    if (isUnknownMessage(error)) return (await post(nonceOf(`${message.id} again`))).id;
    throw error;
  }
}

/** Puts another text in place of a message's, and takes its buttons away. @throws {ChannelError} */
export async function editMessage(
  rest: DiscordRest,
  channelId: string,
  messageId: string,
  content: string,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const path = `/channels/${channelId}/messages/${messageId}`;
  const body = { content: toContent(content), flags: suppressEmbeds, components: [], allowed_mentions: { parse: [] } };
  await rest.call({ method: "PATCH", path, body }, ms, signal, sendError);
}

/**
 * Looks among our own latest messages of the channel for one that nobody got a word about: by its nonce where Discord
 * still knows it, else by its text and file. `known` are those of which it is known what they are.
 *
 * @throws {ChannelError}
 */
export async function findMessage(
  rest: DiscordRest,
  channelId: string,
  message: OutboundMessage,
  about: { readonly botId: string; readonly since: number; readonly known: (messageId: string) => boolean },
  ms: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = `/channels/${channelId}/messages`;
  const query = { limit: String(historyLength) };
  const page = z.array(z.unknown()).parse(await rest.call({ method: "GET", path, query }, ms, signal, sendError));
  const own = page
    .flatMap((one) => discordMessage.safeParse(one).data ?? [])
    .filter(({ author, id }) => author.id === about.botId && timeOf(id) >= about.since - clockSlackMs);
  const nonce = nonceOf(message.id);
  const byNonce = own.find((one) => one.nonce === nonce);
  if (byNonce !== undefined) return byNonce.id;
  return own.findLast((one) => !about.known(one.id) && isSame(one, message))?.id;
}

function isSame(shown: DiscordMessage, message: OutboundMessage): boolean {
  const content = message.content === "" ? "" : toContent(message.content);
  const names = (files: readonly { readonly filename: string }[]): string =>
    files.map(({ filename }) => filename.replace(/[^\w.-]/g, "_")).join("\n");
  return shown.content.trim() === content.trim() && names(shown.attachments) === names(message.attachments);
}

function timeOf(snowflake: string): number {
  return Number(BigInt(snowflake) >> 22n) + discordEpochMs;
}

function rowsOf(buttons: readonly Button[]): unknown[] {
  const rows: { type: 1; components: unknown[] }[] = [];
  for (const [index, { label, value }] of buttons.entries()) {
    const button = { type: 2, style: 2, label: label.slice(0, longestLabel), custom_id: value };
    if (index % buttonsInRow === 0) rows.push({ type: 1, components: [button] });
    else rows.at(-1)?.components.push(button);
  }
  return rows;
}

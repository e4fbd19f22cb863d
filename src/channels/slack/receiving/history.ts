import { z } from "zod";
import { asDocumented } from "../../wire/call.js";
import { type SlackApi, type SlackArguments, title } from "../api.js";
import { type SlackMessage, slackMessage, type Where } from "../message.js";

const page = z.looseObject({
  messages: z.array(z.unknown()).default([]),
  has_more: z.boolean().optional(),
  response_metadata: z.looseObject({ next_cursor: z.string().optional() }).nullish(),
});
const list = z.looseObject({
  channels: z.array(z.looseObject({ id: z.string() })).default([]),
  response_metadata: z.looseObject({ next_cursor: z.string().optional() }).nullish(),
});

const pageSize = 200;
/** More than this was missed in one place: the newest of it is taken. */
const mostPages = 50;

/** What is in a place after this message, oldest first: its own messages, or the answers in the thread. @throws {ChannelError} */
export async function readAfter(
  api: SlackApi,
  { channel, root }: Where,
  oldest: string,
  signal: AbortSignal,
  more: SlackArguments = {},
): Promise<readonly SlackMessage[]> {
  const method = root === undefined ? "conversations.history" : "conversations.replies";
  const found = new Map<string, SlackMessage>();
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const args = { channel, ts: root, oldest, limit: String(pageSize), cursor, ...more };
    const { messages, response_metadata: next } = asDocumented(title, page, await api.call(method, args, signal));
    // The first message of a thread comes with each of its pages.
    for (const message of messages.flatMap((one) => slackMessage.safeParse(one).data ?? []))
      if (message.ts > oldest) found.set(message.ts, message);
    cursor = next?.next_cursor || undefined;
    if (cursor === undefined) break;
  }
  return [...found.values()].sort((a, b) => (a.ts < b.ts ? -1 : 1));
}

/** The first message of a thread; undefined: it is gone. @throws {ChannelError} */
export async function readRoot(
  api: SlackApi,
  channel: string,
  root: string,
  signal: AbortSignal,
): Promise<SlackMessage | undefined> {
  const { messages } = asDocumented(
    title,
    page,
    await api.call("conversations.replies", { channel, ts: root, limit: "1", inclusive: true }, signal),
  );
  return messages.flatMap((one) => slackMessage.safeParse(one).data ?? []).find(({ ts }) => ts === root);
}

/** Ids of all conversations of these types that the bot is in. @throws {ChannelError} */
export async function listConversations(api: SlackApi, types: string, signal: AbortSignal): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const args = { types, exclude_archived: true, limit: String(pageSize), cursor };
    const { channels, response_metadata: next } = asDocumented(
      title,
      list,
      await api.call("users.conversations", args, signal),
    );
    ids.push(...channels.map(({ id }) => id));
    cursor = next?.next_cursor || undefined;
    if (cursor === undefined) break;
  }
  return ids;
}

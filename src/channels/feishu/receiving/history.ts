import { z } from "zod";
import { asDocumented } from "../../wire/call.js";
import type { Account } from "../account.js";
import { title } from "../feishu-error.js";
import { type FeishuMessage, messageInHistory } from "../message.js";
import type { Places } from "../places.js";

const page = z.looseObject({
  data: z
    .looseObject({
      items: z.array(z.unknown()).nullish(),
      has_more: z.boolean().nullish(),
      page_token: z.string().nullish(),
    })
    .nullish(),
});

type Container = Pick<NonNullable<ReturnType<Places["find"]>>, "chat" | "isDirect" | "threadId">;

const pageSize = 50;
/** More than this was missed in one place: the newest of it is taken. */
const mostPages = 40;
/** Feishu's clocks, and ours, may differ a little; what is read twice is known by its id. */
const overlapMs = 5000;
const what = "to give the history of a chat";

/**
 * What is in a chat, or in a thread of it, since `after` (Unix ms) and a moment before, oldest first. Newest first is how it
 * is asked, because a thread cannot be asked from a time on.
 *
 * @throws {ChannelError}
 */
export async function readAfter(
  account: Account,
  { chat, isDirect, threadId }: Container,
  after: number,
  signal: AbortSignal,
): Promise<readonly FeishuMessage[]> {
  const begin = Math.max(0, after - overlapMs);
  const container =
    threadId === undefined
      ? { container_id_type: "chat", container_id: chat, start_time: String(Math.floor(begin / 1000)) }
      : { container_id_type: "thread", container_id: threadId };
  const found: FeishuMessage[] = [];
  let token: string | undefined;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const query = { ...container, sort_type: "ByCreateTimeDesc", page_size: String(pageSize), page_token: token };
    const call = { method: "GET", path: "/im/v1/messages", query, what } as const;
    const { data } = asDocumented(title, page, await account.call(call, signal));
    const messages = (data?.items ?? []).flatMap((item) => messageInHistory(item, isDirect) ?? []);
    found.push(...messages.filter(({ at }) => at >= begin));
    token = data?.page_token || undefined;
    if (data?.has_more !== true || token === undefined || messages.some(({ at }) => at < begin)) break;
  }
  return found.sort((a, b) => a.at - b.at);
}

/** One message; undefined: it was taken back, or is of a kind that is not read. @throws {ChannelError} */
export async function readMessage(
  account: Account,
  id: string,
  isDirect: boolean,
  signal: AbortSignal,
): Promise<FeishuMessage | undefined> {
  const path = `/im/v1/messages/${encodeURIComponent(id)}`;
  const call = { method: "GET", path, timeoutMs: 3000, what: "to give a message" } as const;
  const { data } = asDocumented(title, page, await account.call(call, signal));
  const [first] = data?.items ?? [];
  return messageInHistory(first, isDirect);
}

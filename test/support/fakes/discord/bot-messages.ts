import type { FakeDiscordFile } from "./attachments.js";
import type { FakeDiscordMessage, FakeDiscordUser, Messages } from "./messages.js";
import type { Previews } from "./previews.js";
import { type ChannelCall, type Json, type Reply, refusal } from "./wire.js";

type Post = Json & { readonly content?: string; readonly nonce?: string };

/** What the bot reads, sends and edits in a channel. */
export class BotMessages {
  edits = 0;
  /** How long a nonce is known. */
  nonceMs = 60_000;
  /** Each message of the bot as it was first shown. */
  readonly showings: { readonly channelId: string; readonly text: string }[] = [];
  readonly #bot: FakeDiscordUser;
  readonly #messages: Messages;
  readonly #previews: Previews;
  readonly #nonces = new Map<string, { readonly message: FakeDiscordMessage; readonly at: number }>();

  constructor(bot: FakeDiscordUser, messages: Messages, previews: Previews) {
    this.#bot = bot;
    this.#messages = messages;
    this.#previews = previews;
  }

  async answer(call: ChannelCall): Promise<Reply> {
    const { method, rest } = call;
    if (method === "GET" && rest === "/messages") return this.#page(call);
    if (method === "POST" && rest === "/messages") return await this.#post(call);
    const message = this.#messages.in(call.channelId).find((one) => rest === `/messages/${one.id}`);
    if (method === "PATCH" && message !== undefined) return this.#edit(message, JSON.parse(call.body.toString()));
    return refusal(404, "Unknown Message", 10_008);
  }

  #page({ channelId, query }: ChannelCall): Reply {
    const here = this.#messages.in(channelId);
    const limit = Number(query.get("limit") ?? 50);
    const after = query.get("after");
    const page =
      after === null ? here.slice(-limit) : here.filter((one) => BigInt(one.id) > BigInt(after)).slice(0, limit);
    return { status: 200, body: page.toReversed().map((one) => this.#messages.toWire(one, false)) };
  }

  #edit(
    message: FakeDiscordMessage,
    { content, components, flags }: Partial<Pick<FakeDiscordMessage, "content" | "components">> & { flags?: number },
  ): Reply {
    if (content !== undefined) message.content = content;
    if (components !== undefined) message.components = components;
    if (flags !== undefined) this.#previews.keepFlags(message.id, flags);
    if (content !== undefined) this.#previews.lookUp(message.id, content);
    this.edits += 1;
    return { status: 200, body: this.#messages.toWire(message, true) };
  }

  async #post({ channelId, body, type }: ChannelCall): Promise<Reply> {
    const { json, uploads } = await readPost(body, type);
    const { content = "", nonce } = json;
    if (content.length > 2000) return refusal(400, "Invalid Form Body", 50_035);
    if (content === "" && uploads.length === 0) return refusal(400, "Cannot send an empty message", 50_006);
    const known = this.#nonces.get(`${channelId} ${nonce}`);
    if (json.enforce_nonce === true && known !== undefined && Date.now() - known.at < this.nonceMs)
      return { status: 200, body: this.#messages.toWire(known.message, true) };
    const reference = json.message_reference as { readonly message_id?: string } | undefined;
    const message = this.#messages.show({
      channelId,
      author: this.#bot,
      content,
      nonce,
      files: uploads,
      replyTo: reference?.message_id,
      components: (json.components ?? []) as FakeDiscordMessage["components"],
      extra: { allowed_mentions: undefined },
    });
    this.#previews.keepFlags(message.id, Number(json.flags ?? 0));
    this.#previews.lookUp(message.id, content);
    this.showings.push({ channelId, text: uploads[0]?.filename ?? content });
    this.#nonces.set(`${channelId} ${nonce}`, { message, at: Date.now() });
    return { status: 200, body: this.#messages.toWire(message, true) };
  }
}

async function readPost(
  body: Buffer,
  type: string,
): Promise<{ readonly json: Post; readonly uploads: readonly FakeDiscordFile[] }> {
  if (!type.startsWith("multipart/")) return { json: JSON.parse(body.toString()), uploads: [] };
  const form = await new Response(body, { headers: { "content-type": type } }).formData();
  const uploads: FakeDiscordFile[] = [];
  for (const [key, value] of form)
    if (key.startsWith("files[") && typeof value !== "string")
      uploads.push({ filename: value.name, bytes: Buffer.from(await value.arrayBuffer()), mimeType: value.type });
  return { json: JSON.parse(String(form.get("payload_json"))), uploads };
}

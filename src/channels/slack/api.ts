import { z } from "zod";
import { ChannelError } from "../../errors.js";
import { withoutSlashes } from "../../util/text/trim-where.js";
import { callPlatform, jsonOf, statusError } from "../wire/call.js";
import { SlackRefusal, type TokenKey } from "./slack-error.js";

export interface SlackApiOptions {
  readonly botToken: string;
  readonly appToken: string;
  /** Default `https://slack.com/api`. */
  readonly apiRoot?: string | undefined;
}

/** Arguments of a method: what is not a text goes as JSON, and `undefined` not at all. */
export type SlackArguments = Readonly<Record<string, unknown>>;

export interface CallOptions {
  readonly ms?: number;
  /** Default `botToken`. */
  readonly as?: TokenKey;
}

export const title = "Slack";
export const callMs = 15_000;

/** Without these it is deaf or mute; docs/slack.md has all of them. */
const neededRights = [
  ...["app_mentions:read", "channels:history", "channels:read", "chat:write", "files:read", "files:write"],
  ...["im:history", "im:read", "users:read"],
];

const reply = z.looseObject({ ok: z.boolean(), error: z.string().optional(), needed: z.string().optional() });
export type SlackReply = z.infer<typeof reply>;

/** Slack's Web API. Nothing is tried again in here. */
export class SlackApi {
  readonly root: string;
  readonly #tokens: Readonly<Record<TokenKey, string>>;

  constructor({ botToken, appToken, apiRoot = "https://slack.com/api" }: SlackApiOptions) {
    if (!/^https?:\/\//.test(apiRoot) || !URL.canParse(apiRoot))
      throw new ChannelError("channels.slack.apiRoot is not a web address: it must begin with http:// or https://.");
    this.root = withoutSlashes(apiRoot);
    this.#tokens = { botToken, appToken };
  }

  /** @throws {ChannelError} `SlackRefusal` where Slack has said why */
  async call(
    method: string,
    args: SlackArguments,
    signal: AbortSignal,
    options: CallOptions = {},
  ): Promise<SlackReply> {
    return (await this.#ask(method, args, signal, options)).said;
  }

  /** Rights that the bot's token does not have and needs; none where Slack does not say. @throws {ChannelError} */
  async missingRights(signal: AbortSignal): Promise<readonly string[]> {
    const { headers } = await this.#ask("auth.test", {}, signal, {});
    const has = headers
      .get("x-oauth-scopes")
      ?.split(",")
      .map((right) => right.trim());
    return has === undefined ? [] : neededRights.filter((right) => !has.includes(right));
  }

  async #ask(
    method: string,
    args: SlackArguments,
    signal: AbortSignal,
    { ms = callMs, as = "botToken" }: CallOptions,
  ): Promise<{ readonly said: SlackReply; readonly headers: Headers }> {
    const body = new URLSearchParams();
    for (const [key, value] of Object.entries(args))
      if (value !== undefined) body.set(key, typeof value === "string" ? value : JSON.stringify(value));
    const headers = { authorization: `Bearer ${this.#tokens[as]}` };
    const url = `${this.root}/${method}`;
    const answer = await callPlatform({ title, url, method: "POST", headers, body, timeoutMs: ms }, signal);
    if (answer.status < 200 || answer.status > 299) throw statusError(title, answer);
    const { data } = reply.safeParse(jsonOf(title, answer));
    if (data === undefined)
      throw new ChannelError("What answers is not Slack. Check channels.slack.apiRoot.", { retryable: true });
    if (!data.ok) throw new SlackRefusal(method, { error: data.error ?? "no reason", needed: data.needed }, as);
    return { said: data, headers: answer.headers };
  }

  /** Whether the bot's token may be shown to who is at this address. */
  isOwn(address: string): boolean {
    if (!URL.canParse(address)) return false;
    const { origin, hostname, protocol } = new URL(address);
    return origin === new URL(this.root).origin || (protocol === "https:" && /(^|\.)slack\.com$/.test(hostname));
  }

  get bearer(): string {
    return `Bearer ${this.#tokens.botToken}`;
  }
}

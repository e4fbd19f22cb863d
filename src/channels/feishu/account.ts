import { z } from "zod";
import { ChannelError } from "../../errors.js";
import { withoutSlashes } from "../../util/text/trim-where.js";
import { type CallAnswer, callPlatform, withoutMessage } from "../wire/call.js";
import { download } from "../wire/download.js";
import { FeishuRefusal, refusalOf, saidIn, title } from "./feishu-error.js";

export interface AccountOptions {
  readonly appId: string;
  readonly appSecret: string;
  /** Default `https://open.feishu.cn`. */
  readonly apiRoot?: string | undefined;
}

export interface ApiCall {
  readonly method: "GET" | "POST" | "PATCH";
  /** Behind `/open-apis`, such as `/im/v1/messages`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: object | FormData;
  readonly timeoutMs?: number;
  /** For an error: Feishu refused … */
  readonly what: string;
}

interface Token {
  readonly text: string;
  /** Unix ms. */
  readonly endsAt: number;
}

const callMs = 15_000;
/** In the last 30 minutes of a token Feishu gives a new one; before that, the same again. */
const renewedBeforeMs = 5 * 60_000;

const tokenAnswer = z.looseObject({ tenant_access_token: z.string().min(1), expire: z.number() });
const botAnswer = z.looseObject({
  bot: z.looseObject({ open_id: z.string().min(1), app_name: z.string().optional() }),
});

/** The bot itself. */
export interface Bot {
  readonly openId: string;
  readonly name: string | undefined;
}

/** The app's account: its API, and the access token for it, which is renewed before it ends. */
export class Account {
  readonly root: string;
  readonly #options: AccountOptions;
  #token: Token | undefined;
  #asking: Promise<Token> | undefined;

  constructor(options: AccountOptions) {
    this.#options = options;
    this.root = withoutSlashes(options.apiRoot ?? "https://open.feishu.cn");
  }

  get appId(): string {
    return this.#options.appId;
  }

  /** Asked each time: the answer proves that the login is good. @throws {ChannelError} */
  async whoAmI(signal: AbortSignal): Promise<Bot> {
    const said = await this.call({ method: "GET", path: "/bot/v3/info", what: "to say who the bot is" }, signal);
    const { data } = botAnswer.safeParse(said);
    if (data === undefined) throw notFeishu();
    return { openId: data.bot.open_id, name: data.bot.app_name };
  }

  /** Where the connection for events is opened. It needs no token. @throws {ChannelError} */
  async endpoint(signal: AbortSignal): Promise<unknown> {
    const { appId: AppID, appSecret: AppSecret } = this.#options;
    const url = `${this.root}/callback/ws/endpoint`;
    const answer = await callPlatform({ title, url, ...asJson({ AppID, AppSecret }), timeoutMs: callMs }, signal);
    return jsonIn(answer, "the connection");
  }

  /** The whole JSON of the answer. An access token that is not good any more is renewed once. @throws {ChannelError} */
  async call(call: ApiCall, signal: AbortSignal): Promise<unknown> {
    return jsonIn(await this.#ask(call, signal), call.what);
  }

  /** The bytes of a file. Stops behind `maxBytes`. @throws {ChannelError} */
  async download(path: string, type: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
    return await this.#withToken(async (authorization) => {
      const url = `${this.root}/open-apis${path}?type=${type}`;
      const init = { headers: { authorization }, redirect: "manual", signal } as const;
      return await download(title, url, maxBytes, init, (answer) => refusalOf(answer, "the file"));
    }, signal);
  }

  async #ask(
    { method, path, query = {}, body, timeoutMs = callMs, what }: ApiCall,
    signal: AbortSignal,
  ): Promise<CallAnswer> {
    const { headers, ...content } =
      body === undefined ? { headers: {} } : body instanceof FormData ? { headers: {}, body } : asJson(body);
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
    const call = { title, url: `${this.root}/open-apis${path}${search}`, method, timeoutMs, ...content };
    return await this.#withToken(async (authorization) => {
      const answer = await callPlatform({ ...call, headers: { ...headers, authorization } }, signal);
      if (!isTaken(answer)) throw refusalOf(answer, what);
      return answer;
    }, signal);
  }

  async #withToken<T>(work: (authorization: string) => Promise<T>, signal: AbortSignal): Promise<T> {
    const token = await this.#accessToken(signal);
    try {
      return await work(`Bearer ${token}`);
    } catch (error) {
      if (!(error instanceof FeishuRefusal) || !error.isOldToken) throw error;
      if (this.#token?.text === token) this.#token = undefined;
      return await work(`Bearer ${await this.#accessToken(signal)}`);
    }
  }

  async #accessToken(signal: AbortSignal): Promise<string> {
    if (this.#token === undefined || Date.now() >= this.#token.endsAt - renewedBeforeMs) {
      this.#asking ??= this.#askToken(signal).finally(() => {
        this.#asking = undefined;
      });
      this.#token = await this.#asking;
    }
    return this.#token.text;
  }

  async #askToken(signal: AbortSignal): Promise<Token> {
    const { appId: app_id, appSecret: app_secret } = this.#options;
    const url = `${this.root}/open-apis/auth/v3/tenant_access_token/internal`;
    const askedAt = Date.now();
    try {
      const call = { title, url, ...asJson({ app_id, app_secret }), timeoutMs: callMs };
      const said = tokenAnswer.safeParse(jsonIn(await callPlatform(call, signal), "the login")).data;
      if (said === undefined) throw notFeishu();
      return { text: said.tenant_access_token, endsAt: askedAt + said.expire * 1000 };
    } catch (error) {
      throw withoutMessage(error);
    }
  }
}

function asJson(body: object) {
  return { headers: { "content-type": "application/json; charset=utf-8" }, body: JSON.stringify(body) };
}

/** Feishu says no with 200, too: then the code is not 0. */
function isTaken({ status, body }: CallAnswer): boolean {
  return status >= 200 && status <= 299 && (saidIn(body)?.code ?? 0) === 0;
}

function jsonIn(answer: CallAnswer, what: string): unknown {
  if (!isTaken(answer)) throw refusalOf(answer, what);
  const said = saidIn(answer.body);
  if (said === undefined) throw notFeishu();
  return said;
}

/** A proxy, or another program. */
function notFeishu(): ChannelError {
  const where = "channels.feishu.domain and channels.feishu.apiRoot";
  return new ChannelError(`What answers is not Feishu. Check ${where}.`, { retryable: true, outcome: "unknown" });
}

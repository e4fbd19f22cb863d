import { z } from "zod";
import { ChannelError } from "../../errors.js";
import { withoutSlashes } from "../../util/text/trim-where.js";
import { type CallAnswer, callPlatform, jsonOf, withoutMessage } from "../wire/call.js";
import type { Credentials } from "./credentials.js";
import { QqRefusal, refusalOf, saidIn, title } from "./qq-error.js";

export interface AccountOptions extends Credentials {
  /** Default `https://api.sgroup.qq.com`. */
  readonly apiRoot?: string | undefined;
  /** Default `https://bots.qq.com`. */
  readonly tokenRoot?: string | undefined;
}

export interface ApiCall {
  readonly method: "GET" | "POST" | "PUT";
  /** Such as `/v2/users/…/messages`. */
  readonly path: string;
  readonly body?: object | FormData;
  readonly timeoutMs?: number;
  /** For an error: QQ refused … */
  readonly what: string;
}

interface Token {
  readonly text: string;
  /** Unix ms. */
  readonly endsAt: number;
}

const callMs = 15_000;
/** In the last 60 s of a token QQ gives a new one; before that, the same again. */
const renewedBeforeMs = 45_000;

// QQ writes the number as a text.
const tokenAnswer = z.looseObject({ access_token: z.string().min(1), expires_in: z.coerce.number() });
const identity = z.looseObject({ id: z.string().optional(), username: z.string().default("") });

/** The bot's account: its API, and the access token for it, which is renewed before it ends. */
export class Account {
  readonly #options: AccountOptions;
  #token: Token | undefined;
  #asking: Promise<Token> | undefined;

  constructor(options: AccountOptions) {
    this.#options = options;
  }

  get appId(): string {
    return this.#options.appId;
  }

  /** What is before the access token in a login. @throws {ChannelError} `refused`: nothing was shown */
  async authorization(signal: AbortSignal): Promise<string> {
    if (this.#token === undefined || Date.now() >= this.#token.endsAt - renewedBeforeMs) {
      this.#asking ??= this.#ask(signal).finally(() => {
        this.#asking = undefined;
      });
      this.#token = await this.#asking;
    }
    return `QQBot ${this.#token.text}`;
  }

  /** QQ does not take the token any more. */
  forgetToken(): void {
    this.#token = undefined;
  }

  async whoAmI(signal: AbortSignal): Promise<z.output<typeof identity>> {
    const said = await this.call({ method: "GET", path: "/users/@me", what: "to say who the bot is" }, signal);
    const { data } = identity.safeParse(said);
    if (data === undefined)
      throw new ChannelError("What answers is not QQ. Check channels.qq.apiRoot.", { retryable: true });
    return data;
  }

  /** The JSON of the answer; undefined where there is none. @throws {ChannelError} */
  async call({ method, path, body, timeoutMs = callMs, what }: ApiCall, signal: AbortSignal): Promise<unknown> {
    const authorization = await this.authorization(signal);
    const isForm = body instanceof FormData;
    const headers = { authorization, ...(body === undefined || isForm ? {} : { "content-type": "application/json" }) };
    const content = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) };
    const url = `${withoutSlashes(this.#options.apiRoot ?? "https://api.sgroup.qq.com")}${path}`;
    const answer = await callPlatform({ title, url, method, headers, ...content, timeoutMs }, signal);
    if (answer.status === 401) this.forgetToken();
    if (answer.status < 200 || answer.status >= 300) throw refusalOf(answer, what);
    return answer.body.length === 0 ? undefined : jsonOf(title, answer);
  }

  async #ask(signal: AbortSignal): Promise<Token> {
    const { appId, appSecret, tokenRoot = "https://bots.qq.com" } = this.#options;
    const url = `${withoutSlashes(tokenRoot)}/app/getAppAccessToken`;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ appId, clientSecret: appSecret });
    const askedAt = Date.now();
    const answer = await callPlatform({ title, url, headers, body, timeoutMs: callMs }, signal).catch(
      (error: unknown) => {
        throw withoutMessage(error);
      },
    );
    const { access_token: text, expires_in: seconds } = tokenIn(answer);
    return { text, endsAt: askedAt + seconds * 1000 };
  }
}

/** QQ says with 200, too, that it does not know the bot. */
function tokenIn(answer: CallAnswer): z.output<typeof tokenAnswer> {
  const what = "the login";
  const found = answer.status === 200 ? tokenAnswer.safeParse(jsonOf(title, answer)).data : undefined;
  if (found !== undefined) return found;
  const said = saidIn(answer);
  throw said === undefined || answer.status >= 500
    ? withoutMessage(refusalOf(answer, what))
    : new QqRefusal(said.code, said.said, what);
}

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { ChannelError, messageOf } from "../../../errors.js";
import { replaceFile } from "../../../util/files/replace-file.js";
import { whyUnreached } from "../../../util/text/why-unreached.js";

/** What a token endpoint wants to see (RFC 6749, section 6). */
export interface OAuthLogin {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly refreshToken: string;
  readonly scope?: string | undefined;
}

/** Access tokens for both servers, each asked for once and used until shortly before it expires. */
export interface Tokens {
  /** @throws {ChannelError} `retryable` is false when somebody has to log in again */
  get(): Promise<string>;
  /** A server has refused this one: the next is asked for. */
  forget(token: string | undefined): void;
}

const answer = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().positive().catch(300),
  refresh_token: z.string().min(1).optional(),
});
const refusal = z.object({ error: z.string(), error_description: z.string().optional() });
/** Microsoft hands out a new refresh token with each access token, and lets the older ones run out. */
const stored = z.object({ replaces: z.string(), refreshToken: z.string().min(1) });

const askMs = 20_000;
/** A login takes a while, and clocks differ. */
const spareMs = 60_000;

/** `file`: where a refresh token is kept that has taken the place of the configured one. */
export function createTokens(login: OAuthLogin, file: string): Tokens {
  const replaces = createHash("sha256").update(login.refreshToken).digest("hex").slice(0, 16);
  const state: {
    current?: { readonly token: string; readonly until: number };
    refreshToken?: string;
    asking?: Promise<string>;
  } = {};

  const renew = async (): Promise<string> => {
    state.refreshToken ??= (await readKept(file, replaces)) ?? login.refreshToken;
    const { refreshToken } = state;
    const { access_token, expires_in, refresh_token } = await ask({ ...login, refreshToken }).catch(
      (error: unknown) => {
        const isLast = refreshToken === login.refreshToken;
        if (isLast || (error instanceof ChannelError && error.retryable)) throw error;
        return ask(login);
      },
    );
    const lifeMs = expires_in * 1000;
    state.current = { token: access_token, until: Date.now() + Math.max(lifeMs - spareMs, lifeMs / 2) };
    if (refresh_token !== undefined && refresh_token !== refreshToken) {
      state.refreshToken = refresh_token;
      await replaceFile(file, `${JSON.stringify({ replaces, refreshToken: refresh_token })}\n`, { mode: 0o600 });
    }
    return access_token;
  };

  return {
    async get() {
      const { current } = state;
      if (current !== undefined && Date.now() < current.until) return current.token;
      state.asking ??= renew().finally(() => {
        delete state.asking;
      });
      return await state.asking;
    },
    forget(token) {
      if (state.current?.token === token) delete state.current;
    },
  };
}

async function readKept(file: string, replaces: string): Promise<string | undefined> {
  try {
    const { data } = stored.safeParse(JSON.parse(await readFile(file, "utf8")));
    return data?.replaces === replaces ? data.refreshToken : undefined;
  } catch {
    // None was handed out yet, or the file is damaged: the configured one is there still.
    return undefined;
  }
}

async function ask({ tokenUrl, clientId, clientSecret, refreshToken, scope }: OAuthLogin) {
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    ...(scope === undefined ? {} : { scope }),
  });
  const { status, said } = await post(tokenUrl, body);
  const { data } = answer.safeParse(said);
  if (status === 200 && data !== undefined) return data;
  const { error = `status ${status}`, error_description: why } = refusal.safeParse(said).data ?? {};
  const isForNow = status === 429 || status >= 500 || status < 400;
  const what = isForNow
    ? "has no access token at the moment"
    : "does not renew the login: log in again, and put the new refresh token into channels.email.oauth.refreshToken";
  throw new ChannelError(
    `${new URL(tokenUrl).host} ${what} (${error}${why === undefined ? "" : `: ${why.slice(0, 200)}`})`,
    { retryable: isForNow },
  );
}

async function post(url: string, body: URLSearchParams): Promise<{ readonly status: number; readonly said: unknown }> {
  try {
    // It names no other place: what is posted are secrets.
    const options = { redirect: "error", signal: AbortSignal.timeout(askMs) } as const;
    const response = await fetch(url, { method: "POST", body, headers: { accept: "application/json" }, ...options });
    const text = await response.text();
    return { status: response.status, said: parse(text) };
  } catch (error) {
    // fetch says no more than that it has failed.
    const reason = error instanceof Error ? (error.cause ?? error) : error;
    throw new ChannelError(`The token endpoint ${url} cannot be reached: ${whyUnreached(error) ?? messageOf(reason)}`, {
      cause: error,
      retryable: true,
    });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

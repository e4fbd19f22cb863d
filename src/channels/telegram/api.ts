import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Api, InputFile } from "grammy";
import { ChannelError } from "../../errors.js";
import { withoutSlashes } from "../../util/text/trim-where.js";
import { callsThrough } from "./call.js";
import { openProxyAgent } from "./proxy.js";

/** The signal type in grammY's declarations, which come from a package older than Node's own. */
export type GrammySignal = NonNullable<Parameters<Api["getMe"]>[0]>;

export function toGrammySignal(signal: AbortSignal): GrammySignal {
  // grammY only asks for `aborted` and the listeners, which both have; the declarations differ in the rest.
  return signal as unknown as GrammySignal;
}

/** Free connections are closed early: one that Telegram has closed meanwhile would make a send fail halfway. */
const freeSocketMs = 4000;

/** grammY's client for the Bot API, and the way around it for files. */
export interface TelegramClient {
  readonly api: Api;
  /** Holds the address and the proxy that the config says. */
  readonly agent: HttpAgent;
  /** Where a file can be fetched whose path getFile gave. Holds the token. */
  fileAddress(path: string): URL;
  /** A file on its way to Telegram. */
  upload(bytes: Uint8Array, filename: string): InputFile;
}

export interface ApiOptions {
  readonly token: string;
  /** Default `https://api.telegram.org`. */
  readonly apiRoot?: string | undefined;
  readonly proxy?: string | undefined;
}

/** grammY itself is loaded here, and only here. */
export async function openApi(options: ApiOptions): Promise<TelegramClient> {
  const { Api: GrammyApi, InputFile: GrammyFile } = await import("grammy");
  const root = parseAddress(options.apiRoot ?? "https://api.telegram.org", "channels.telegram.apiRoot", [
    "http:",
    "https:",
  ]);
  const isSecure = root.protocol === "https:";
  const agent =
    options.proxy === undefined || options.proxy === ""
      ? new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true, timeout: freeSocketMs })
      : await openProxyAgent(
          parseAddress(options.proxy, "channels.telegram.proxy", ["http:", "https:", "socks5:", "socks5h:", "socks:"]),
          freeSocketMs,
        );
  const apiRoot = withoutSlashes(root.href);
  const api = new GrammyApi(options.token, {
    apiRoot,
    // Longer than any call of ours may take: each has its own limit.
    timeoutSeconds: 600,
    baseFetchConfig: { agent, compress: true },
  });
  const addressOf = (method: string): URL => new URL(`${apiRoot}/bot${options.token}/${method}`);
  api.config.use(callsThrough(agent, addressOf, (value) => value instanceof GrammyFile));
  return {
    api,
    agent,
    fileAddress: (path) => new URL(`${apiRoot}/file/bot${options.token}/${path}`),
    upload: (bytes, filename) => new GrammyFile(bytes, filename),
  };
}

function parseAddress(value: string, key: string, protocols: readonly string[]): URL {
  const kinds = protocols.map((protocol) => `${protocol}//`).join(", ");
  if (!URL.canParse(value)) throw new ChannelError(`${key} is not a web address: it must begin with one of ${kinds}.`);
  const address = new URL(value);
  if (!protocols.includes(address.protocol)) throw new ChannelError(`${key} must begin with one of ${kinds}.`);
  return address;
}

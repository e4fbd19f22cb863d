import type { REST } from "@discordjs/rest";
import { ChannelError } from "../../errors.js";
import { linked } from "../../util/async/linked.js";
import { withoutSlashes } from "../../util/text/trim-where.js";

export interface RestOptions {
  readonly token: string;
  /** Default `https://discord.com/api`. */
  readonly apiRoot?: string | undefined;
}

export interface RestCall {
  readonly method: "GET" | "POST" | "PATCH" | "PUT";
  /** Begins with `/channels/` and the like, without the API's version. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly file?: { readonly name: string; readonly bytes: Uint8Array; readonly mimeType: string } | undefined;
}

/** Discord's REST API. Nothing is tried again in here: a rate limit is an error, with the wait that it asks for. */
export interface DiscordRest {
  /** What the gateway's client asks with. */
  readonly client: REST;
  /** The answer as it came. Gives up after `ms`, with what `toFailure` makes of any error; an abort of `signal` counts as one. */
  call(
    call: RestCall,
    ms: number,
    signal: AbortSignal,
    toFailure: (error: unknown, cutOff: "timeout" | "abort" | undefined) => ChannelError,
  ): Promise<unknown>;
}

/** discord.js's client for the API is loaded here, and only here. */
export async function openRest({ token, apiRoot = "https://discord.com/api" }: RestOptions): Promise<DiscordRest> {
  if (!/^https?:\/\//.test(apiRoot) || !URL.canParse(apiRoot))
    throw new ChannelError("channels.discord.apiRoot is not a web address: it must begin with http:// or https://.");
  const { REST: Client } = await import("@discordjs/rest");
  const client = new Client({
    api: withoutSlashes(apiRoot),
    version: "10",
    retries: 0,
    offset: 0,
    rejectOnRateLimit: () => true,
    // Longer than any call may take: each has its own limit.
    timeout: 600_000,
  }).setToken(token);
  return {
    client,
    async call({ method, path, query, body, file }, ms, signal, toFailure) {
      using scope = linked(signal, ms);
      // It forgets the token when Discord has refused it once.
      client.setToken(token);
      try {
        return await client.request({
          method: methods[method],
          fullRoute: `/${path.replace(/^\//, "")}`,
          signal: scope.signal,
          ...(query === undefined ? {} : { query: new URLSearchParams(query) }),
          ...(body === undefined ? {} : { body }),
          ...(file === undefined
            ? {}
            : { files: [{ name: file.name, data: Buffer.from(file.bytes), contentType: file.mimeType }] }),
        });
      } catch (error) {
        throw toFailure(error, signal.aborted ? "abort" : scope.signal.aborted ? "timeout" : undefined);
      }
    },
  };
}

type Method = Parameters<REST["request"]>[0]["method"];

// The library's own enum has these very values; importing it would load the library.
const methods = { GET: "GET", POST: "POST", PATCH: "PATCH", PUT: "PUT" } as unknown as Readonly<
  Record<RestCall["method"], Method>
>;

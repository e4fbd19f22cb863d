import { tryPlatform } from "../../channels/platforms.js";
import type { LoadedConfig } from "../../config/load.js";
import { messageOf, RequestError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/async/linked.js";

const limitMs = 15_000;

/**
 * Logs in once with a channel's settings, beside the channel that runs. Resolves with how people find it there.
 *
 * @throws {RequestError} 400 with what the platform said
 */
export async function tryChannel(
  name: string,
  { config, secrets, off }: LoadedConfig,
  { home, log, signal }: { readonly home: string; readonly log: Logger; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const reason = off.find(({ section }) => section === `channels.${name}`)?.reason;
  if (reason !== undefined) throw failed(reason);
  using scope = linked(signal, limitMs);
  try {
    const tried = await tryPlatform(name, config.channels, { home, log }, scope.signal);
    if (tried !== undefined) return tried.account;
  } catch (error) {
    const said = scope.signal.aborted ? `no answer within ${limitMs / 1000} s` : messageOf(error);
    throw failed(secrets.reduce((text, secret) => text.replaceAll(secret, "***"), said));
  }
  throw failed(`there is no channel ${name}`);
}

function failed(reason: string): RequestError {
  return new RequestError(`The connection does not work: ${reason}.`.replace(/\.\.$/, "."), {
    status: 400,
    code: "test_failed",
  });
}

import { ChannelError } from "../errors.js";
import type { Logger } from "../log.js";
import type { Channel, OwnChannelContext, Publish } from "./channel.js";

/** A further account on a platform: the code of the platform knows its platform alone. */
export interface Account {
  readonly platform: string;
  /** The channel's name, e.g. `slack-acme`. */
  readonly name: string;
}

/** A sentence of the platform's code about its section, as one about the account's. */
export function said(text: string, { platform, name }: Account): string {
  return text.replaceAll(new RegExp(`\\bchannels\\.${platform}(?![\\w-])`, "g"), `channels.${name}`);
}

/** The same error, with the keys of the account. */
export function saidOfAccount(error: unknown, account: Account): unknown {
  if (!(error instanceof ChannelError)) return error;
  error.message = said(error.message, account);
  if (error.stack !== undefined) error.stack = said(error.stack, account);
  return error;
}

/** Its lines say whose they are. */
export function logFor(account: Account, log: Logger): Logger {
  const { hide } = log;
  const line =
    (level: "debug" | "info" | "warn" | "error"): Logger["info"] =>
    (message, fields) =>
      log[level](said(message, account), { channel: account.name, ...fields });
  return {
    ...{ debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") },
    ...(hide === undefined ? {} : { hide: (secrets) => hide(secrets) }),
  };
}

/** Its positions, and its path on the gateway's server, are not those of another account. */
export function contextFor(account: Account, context: OwnChannelContext): OwnChannelContext {
  const { cursor, webhooks } = context;
  return {
    ...context,
    cursor: (name) => cursor(ownId(name, account)),
    ...(webhooks === undefined
      ? {}
      : { webhooks: { open: (_platform, handle) => webhooks.open(account.name, handle) } }),
  };
}

/**
 * The channel under the account's name. What it receives is told from what another account receives, also where the
 * platform gives the same ids to both: two apps in one workspace, two phones in one group.
 */
export function asAccount(channel: Channel, account: Account): Channel {
  return new Proxy(channel, {
    get(target, key) {
      if (key === "name") return account.name;
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      const call = (...args: readonly unknown[]): unknown => outcomeOf(Reflect.apply(value, target, args), account);
      return key === "run"
        ? (publish: Publish, ...rest: unknown[]) => call(ownPublish(publish, account), ...rest)
        : call;
    },
  });
}

function outcomeOf(outcome: unknown, account: Account): unknown {
  if (!(outcome instanceof Promise)) return outcome;
  return outcome.catch((error: unknown) => {
    throw saidOfAccount(error, account);
  });
}

function ownPublish(publish: Publish, account: Account): Publish {
  return (message) => {
    const { dedupId, cursor } = message;
    return publish({
      ...message,
      ...(dedupId === undefined ? {} : { dedupId: ownId(dedupId, account) }),
      ...(cursor === undefined ? {} : { cursor: { ...cursor, name: ownId(cursor.name, account) } }),
    });
  };
}

function ownId(id: string, { name }: Account): string {
  return `${name}:${id}`;
}

import type { Channel, OwnChannelContext, PublishOutcome, ReceivedMessage } from "../channels/channel.js";
import { canListen, openPlatform, tryPlatform } from "../channels/platforms.js";
import type { LoadedConfig } from "../config/load.js";
import { ChannelError, messageOf } from "../errors.js";
import { silentLog } from "../log.js";
import { linked } from "../util/async/linked.js";
import { newId } from "../util/ids.js";
import { isPersonCode, newPersonCode, shownCode } from "../util/text/person-code.js";

const tryMs = 15_000;
const sendMs = 60_000;

export interface Person {
  readonly id: string;
  readonly name: string | undefined;
}

/** One channel before any gateway runs it: tries its login, finds out who its owner is, and says hello to them. */
export class FirstContact {
  readonly #name: string;
  readonly #loaded: LoadedConfig;
  readonly #home: string;

  /** `loaded` is the config as it is going to be. */
  constructor(name: string, loaded: LoadedConfig, home: string) {
    this.#name = name;
    this.#loaded = loaded;
    this.#home = home;
  }

  /**
   * Logs in once. Resolves with how people find it there.
   *
   * @throws {Error} what the platform said, without the token: of a {@link ChannelError} a sentence, else the end of one
   */
  async logIn(signal: AbortSignal): Promise<string | undefined> {
    using scope = linked(signal, tryMs);
    const off = this.#loaded.off.find(({ section }) => section === `channels.${this.#name}`);
    if (off !== undefined) throw new Error(off.reason);
    const late = `no answer within ${tryMs / 1000} s`;
    const around = { home: this.#home, log: silentLog };
    const tried = await tryPlatform(this.#name, this.#loaded.config.channels, around, scope.signal).catch(
      (error: unknown) => this.#fail(scope.signal.aborted ? new Error(late) : error, signal),
    );
    if (tried === undefined) throw new Error(`channels.${this.#name} is not complete`);
    return tried.account;
  }

  /** Whether people can be listened to before a gateway runs: not where their messages are brought to an address. */
  get canListen(): boolean {
    return canListen(this.#name, this.#loaded.config.channels);
  }

  /**
   * Waits for somebody who sends `code` in a direct chat. What others write meanwhile waits for the gateway. `onListening`
   * is called once what is sent from then on arrives.
   *
   * @throws {Error} with one sentence when the connection is lost
   */
  async waitForPerson(code: string, onListening: () => void, signal: AbortSignal): Promise<Person> {
    using scope = linked(signal);
    const channel = await this.#open();
    let found: Person | undefined;
    let sent: Promise<void> | undefined;
    const publish = async (message: ReceivedMessage): Promise<PublishOutcome> => {
      if (found !== undefined || !isCode(message, code)) return { status: "busy", reply: "" };
      found = { id: message.senderId, name: message.senderName };
      // The channel goes on meanwhile, and confirms what it was sent.
      sent = this.#say(channel, found.id, greeting, scope.signal).finally(() => scope.abort());
      sent.catch(() => undefined);
      return { status: "accepted" };
    };
    await channel.run(publish, onListening, scope.signal).catch((error: unknown) => this.#fail(error, signal));
    if (found === undefined) throw signal.aborted ? signal.reason : new Error(`${this.#name} has ended the connection`);
    await sent?.catch((error: unknown) => this.#fail(error, signal));
    return found;
  }

  /** Sends a live test message. @throws {Error} with one sentence */
  async greet(personId: string, signal: AbortSignal): Promise<void> {
    const channel = await this.#open();
    await this.#say(channel, personId, greeting, signal).catch((error: unknown) => this.#fail(error, signal));
  }

  async #say(channel: Channel, chatId: string, content: string, signal: AbortSignal): Promise<void> {
    using scope = linked(signal, sendMs);
    const name = this.#name;
    const message = { id: newId("out"), channel: name, chatId, sessionKey: `${name}:${chatId}`, attachments: [] };
    await channel.send({ ...message, content }, scope.signal);
  }

  async #open(): Promise<Channel> {
    const { channels, gateway } = this.#loaded.config;
    const trustedProxies = (): readonly string[] => gateway.trustedProxies;
    const scope = { home: this.#home, context: passing, trustedProxies, log: silentLog };
    const opened = await openPlatform(this.#name, channels, scope);
    if (opened?.channel === undefined) throw new Error(opened?.off ?? `channels.${this.#name} is not complete`);
    return opened.channel;
  }

  #fail(error: unknown, signal: AbortSignal): never {
    signal.throwIfAborted();
    const said = this.#loaded.secrets.reduce((text, secret) => text.replaceAll(secret, "***"), messageOf(error));
    if (error instanceof ChannelError) throw new ChannelError(said.replace(/\.$/, ""), { cause: error });
    throw new Error(said.replace(/\.$/, ""), { cause: error });
  }
}

const greeting =
  "Hello! This is your own assistant, and this chat is yours. I answer here as soon as the gateway runs (`maxclaw gateway`).";

/** Nothing is remembered, and nothing is kept of what somebody says. */
const passing: OwnChannelContext = {
  cursor: async () => undefined,
  records: { get: () => undefined, put: async () => undefined, delete: async () => undefined, list: () => [] },
  press: async () => ({ status: "busy", text: "I am being set up." }),
  actsAtOnce: () => true,
};

/** Eight characters that nobody guesses, e.g. `K7PM-2XQA`. */
export function newCode(): string {
  return shownCode(newPersonCode());
}

/** Case, spaces and hyphens do not matter; Telegram's Start button puts a command before it. */
function isCode({ chatType, content, outside }: ReceivedMessage, code: string): boolean {
  return chatType === "dm" && outside === undefined && isPersonCode(content.replace(/^\/start\b/i, ""), code);
}

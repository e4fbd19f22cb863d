import { z } from "zod";
import { ChannelError, messageOf } from "../../errors.js";
import { type Logger, silentLog } from "../../log.js";
import { InOrder } from "../../util/async/in-order.js";
import type { ChannelRecords } from "../channel.js";
import { asDocumented } from "../wire/call.js";
import { MatrixApi, part } from "./api.js";
import { Encryption } from "./crypto/encryption.js";
import { ensureIdentity } from "./crypto/identity.js";
import type { CryptoLibrary } from "./crypto/library.js";
import { type Credentials, Login } from "./kept/login.js";
import { Questions } from "./kept/questions.js";
import { Rooms } from "./kept/rooms.js";
import { Threads } from "./kept/threads.js";
import { title } from "./matrix-error.js";

const identity = z.looseObject({
  user_id: z.string().startsWith("@"),
  device_id: z.string().min(1).optional().catch(undefined),
});
const profile = z.looseObject({ displayname: z.string().nullish() });
const limits = z.looseObject({ "m.upload.size": z.number().positive().nullish() });
const directs = z.record(z.string(), z.array(z.string())).catch({});
const created = z.looseObject({ room_id: z.string() });

/** The bot itself. */
export interface Bot {
  readonly id: string;
  /** Of the login; its keys are this device's. */
  readonly deviceId: string | undefined;
  /** As people see it. */
  readonly name: string | undefined;
  readonly rooms: Rooms;
  readonly threads: Threads;
  readonly questions: Questions;
}

/** What encryption needs besides. */
export interface EncryptionSetting {
  readonly library: CryptoLibrary;
  /** Opens what the bot's account has put aside with its homeserver. */
  readonly recoveryKey?: string | undefined;
}

/** The bot's account at its homeserver: its API, who it is, and its rooms. Outlives a run. */
export class Account {
  readonly api: MatrixApi;
  readonly #records: ChannelRecords | undefined;
  readonly #log: Logger | undefined;
  readonly #credentials: Credentials;
  readonly #setting: EncryptionSetting | undefined;
  readonly #opening = new InOrder();
  #bot: Bot | undefined;
  #encryption: Encryption | undefined;
  /** The largest file that the homeserver takes, where it says so. */
  maxUpload: number | undefined;

  constructor(
    credentials: Credentials,
    records: ChannelRecords | undefined,
    { log, encryption }: { readonly log?: Logger; readonly encryption?: EncryptionSetting | undefined } = {},
  ) {
    this.#credentials = credentials;
    this.#setting = encryption;
    this.api = new MatrixApi(credentials.homeserver, new Login(credentials, records));
    this.#records = records;
    this.#log = log;
  }

  /** @throws {ChannelError} */
  async identify(signal: AbortSignal): Promise<Bot> {
    if (this.#bot !== undefined) return this.#bot;
    const path = "/client/v3/account/whoami";
    const { user_id: id, device_id: deviceId } = asDocumented(
      title,
      identity,
      await this.api.call({ path, what: "the login" }, signal),
    );
    const name = await this.#optional(
      async () => asDocumented(title, profile, await this.api.call(named(id), signal)).displayname ?? undefined,
    );
    this.maxUpload = await this.#optional(async () => {
      const call = { path: "/client/v1/media/config", what: "the limits of files" };
      return asDocumented(title, limits, await this.api.call(call, signal))["m.upload.size"] ?? undefined;
    });
    // Another call may have been faster.
    const records = this.#records;
    this.#bot ??= {
      id,
      deviceId,
      name,
      rooms: new Rooms(id, records),
      threads: new Threads(id, records),
      questions: new Questions(id, records),
    };
    return this.#bot;
  }

  /** Encrypted rooms can be read and written in. */
  get canEncrypt(): boolean {
    return this.#setting !== undefined;
  }

  /** Undefined: it is switched off. @throws {ChannelError} */
  async encryption(signal: AbortSignal): Promise<Encryption | undefined> {
    const setting = this.#setting;
    const records = this.#records;
    if (setting === undefined || records === undefined) return undefined;
    return await this.#opening.run(async () => {
      if (this.#encryption?.isBroken === false) return this.#encryption;
      await this.#encryption?.[Symbol.asyncDispose]();
      this.#encryption = undefined;
      const { id: userId, deviceId } = await this.identify(signal);
      if (deviceId === undefined)
        throw new ChannelError(
          "The access token for Matrix has no device, which encryption needs. Log in by password.",
        );
      const { library, recoveryKey } = setting;
      const log = this.#log ?? silentLog;
      const { api } = this;
      const opened = await Encryption.open({ library, api, userId, deviceId, records, log }, signal);
      try {
        const { password } = this.#credentials;
        await ensureIdentity(opened, { api, userId, deviceId, recoveryKey, password, log }, signal);
      } catch (error) {
        await opened[Symbol.asyncDispose]();
        throw error;
      }
      this.#encryption = opened;
      return opened;
    });
  }

  /**
   * The room of a chat as it is today: of a person's id it is the direct chat with them, which is made where there is none.
   *
   * @throws {ChannelError}
   */
  async roomOf(chatId: string, signal: AbortSignal): Promise<string> {
    const { id, rooms } = await this.identify(signal);
    if (!chatId.startsWith("@")) return rooms.current(chatId);
    const known = rooms.directOf(chatId);
    if (known !== undefined) return known;
    const path = `/client/v3/user/${part(id)}/account_data/m.direct`;
    const listed = asDocumented(
      title,
      directs,
      await this.api.call({ path, what: "the list of direct chats" }, signal).catch(orNothing),
    );
    const [old] = listed[chatId] ?? [];
    const room = old ?? (await this.#create(chatId, signal));
    if (old === undefined) {
      const body = { ...listed, [chatId]: [room] };
      await this.api.call({ method: "PUT", path, body, what: "the list of direct chats" }, signal).catch(orNothing);
    }
    rooms.noteDirect(chatId, room);
    return room;
  }

  async #create(person: string, signal: AbortSignal): Promise<string> {
    const isEncrypted = this.canEncrypt ? { initial_state: [encryptionState] } : {};
    const body = { preset: "trusted_private_chat", is_direct: true, invite: [person], ...isEncrypted };
    const call = { method: "POST", path: "/client/v3/createRoom", body, what: "a new direct chat" } as const;
    const { room_id: room } = asDocumented(title, created, await this.api.call(call, signal));
    if (this.canEncrypt) await (await this.identify(signal)).rooms.note(room, { isEncrypted: true });
    return room;
  }

  async #optional<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      this.#log?.debug("the homeserver does not say everything about the bot", { error: messageOf(error) });
      return undefined;
    }
  }
}

const encryptionState = {
  type: "m.room.encryption",
  state_key: "",
  content: { algorithm: "m.megolm.v1.aes-sha2" },
};

function named(id: string) {
  return { path: `/client/v3/profile/${part(id)}`, what: "the bot's profile" };
}

function orNothing(): unknown {
  return {};
}

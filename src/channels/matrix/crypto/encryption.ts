import { z } from "zod";
import { ChannelError, messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { InOrder } from "../../../util/async/in-order.js";
import type { ChannelRecords } from "../../channel.js";
import type { MatrixApi } from "../api.js";
import { type MatrixEvent, parseEvent } from "../event.js";
import type { CryptoLibrary, OlmMachine } from "./library.js";
import { sendRequest } from "./requests.js";
import { KeyStore, keyPrefix } from "./store.js";

export interface EncryptionOptions {
  readonly library: CryptoLibrary;
  readonly api: MatrixApi;
  readonly userId: string;
  readonly deviceId: string;
  readonly records: ChannelRecords;
  readonly log: Logger;
}

/** What one answer of `/sync` brings for the device. */
export interface DeviceNews {
  readonly toDevice: readonly unknown[];
  readonly changed: readonly string[];
  readonly left: readonly string[];
  /** Undefined: it does not say. */
  readonly keyCounts: Readonly<Record<string, number>> | undefined;
  readonly unusedFallbacks: readonly string[] | undefined;
}

const published = z.looseObject({
  device_keys: z
    .record(z.string(), z.record(z.string(), z.looseObject({ keys: z.record(z.string(), z.string()).catch({}) })))
    .catch({}),
  master_keys: z.record(z.string(), z.unknown()).catch({}),
});

/** The encryption of one device of the bot. What has left it, and what it was told, is durable before the other side counts on it. */
export class Encryption implements AsyncDisposable {
  readonly #options: EncryptionOptions;
  readonly #store: KeyStore;
  /** The library allows one at a time of some of its steps. */
  readonly #turns = new InOrder();

  private constructor(options: EncryptionOptions, store: KeyStore) {
    this.#options = options;
    this.#store = store;
  }

  /** @throws {ChannelError} for good, where the device is another program's */
  static async open(options: EncryptionOptions, signal: AbortSignal): Promise<Encryption> {
    const { api, userId, deviceId, records } = options;
    for (const { id } of records.list())
      if (id.startsWith(`${userId}/keys/`) && !id.startsWith(keyPrefix(userId, deviceId))) await records.delete(id);
    const store = await KeyStore.open(options);
    try {
      const body = { device_keys: { [userId]: [] } };
      const call = { method: "POST", path: "/client/v3/keys/query", body, what: "the bot's own keys" } as const;
      const said = published.parse(await api.call(call, signal));
      const there = said.device_keys[userId]?.[deviceId]?.keys[`ed25519:${deviceId}`];
      if (there !== undefined && there !== store.machine.identityKeys.ed25519.toBase64()) throw foreignDevice();
      const encryption = new Encryption(options, store);
      await store.flush();
      await encryption.#dropOutboundSessions();
      return encryption;
    } catch (error) {
      await store[Symbol.asyncDispose]();
      throw error;
    }
  }

  get machine(): OlmMachine {
    return this.#store.machine;
  }

  get wasm(): CryptoLibrary["wasm"] {
    return this.#options.library.wasm;
  }

  /** It must be opened again. */
  get isBroken(): boolean {
    return this.#store.isBroken;
  }

  /** Resolves once it is durable, which is before the homeserver may forget it. */
  async receive(news: DeviceNews): Promise<void> {
    const { wasm } = this;
    await this.#turns.run(async () => {
      const { toDevice, changed, left, keyCounts, unusedFallbacks } = news;
      const user = (id: string): InstanceType<typeof wasm.UserId>[] => (isUser(id) ? [new wasm.UserId(id)] : []);
      const lists = new wasm.DeviceLists(changed.flatMap(user), left.flatMap(user));
      const fallbacks = unusedFallbacks === undefined ? undefined : new Set(unusedFallbacks);
      const events = JSON.stringify(toDevice);
      const counts = new Map(Object.entries(keyCounts ?? {}));
      // Without counts it means that they are as they were, and not that there are none.
      if (keyCounts === undefined) await this.machine.receiveSyncChangesMsc4186(events, lists, counts, fallbacks);
      else await this.machine.receiveSyncChanges(events, lists, counts, fallbacks);
      await this.#store.flush();
    });
  }

  /** Sends what the machine has to say: its keys, questions for keys, and answers to them. @throws {ChannelError} */
  async talk(signal: AbortSignal): Promise<void> {
    await this.#turns.run(() => this.#talk(signal));
  }

  async #talk(signal: AbortSignal): Promise<void> {
    for (const request of await this.machine.outgoingRequests()) await this.send(request, signal);
  }

  /** Resolves once all that the machine knows is durable. */
  async flush(): Promise<void> {
    await this.#store.flush();
  }

  /** Sends one request of the machine. @throws {ChannelError} */
  async send(request: Parameters<typeof sendRequest>[1], signal: AbortSignal): Promise<void> {
    // What others will count on has to survive a death of this process.
    await this.#store.flush();
    await sendRequest({ machine: this.machine, wasm: this.wasm, api: this.#options.api }, request, signal);
    await this.#store.flush();
  }

  /** The event as it was before it was encrypted; undefined: its key is not here, or it is not what it says. */
  async decrypt(roomId: string, event: MatrixEvent): Promise<MatrixEvent | undefined> {
    const { wasm } = this;
    const settings = new wasm.DecryptionSettings(wasm.TrustRequirement.Untrusted);
    try {
      const found = await this.machine.decryptRoomEvent(JSON.stringify(event), new wasm.RoomId(roomId), settings);
      const isForged = found.shieldState(false).code === wasm.ShieldStateCode.MismatchedSender;
      if (isForged) {
        this.#options.log.warn("an encrypted message on Matrix names a sender who has not written it: it is left out", {
          roomId,
          sender: event.sender,
        });
        return undefined;
      }
      // Nothing but what was encrypted says what it is; where it is and who has sent it was compared.
      const { type, content } = decrypted.parse(JSON.parse(found.event));
      return parseEvent({ ...event, type, content });
    } catch (error) {
      this.#options.log.debug("an encrypted message on Matrix cannot be read", { roomId, error: whyNot(error) });
      return undefined;
    }
  }

  /**
   * The content of an `m.room.encrypted` event that all devices of these people can read.
   *
   * @throws {ChannelError}
   */
  async encrypt(
    roomId: string,
    people: readonly string[],
    type: string,
    content: object,
    signal: AbortSignal,
  ): Promise<object> {
    const { wasm, machine } = this;
    return await this.#turns.run(async () => {
      // The library takes what it is given away.
      const users = () => people.filter(isUser).map((id) => new wasm.UserId(id));
      const room = () => new wasm.RoomId(roomId);
      await machine.updateTrackedUsers(users());
      await this.#talk(signal);
      const claim = await machine.getMissingSessions(users());
      if (claim) await this.send(claim, signal);
      const settings = new wasm.EncryptionSettings();
      settings.sharingStrategy = wasm.CollectStrategy.allDevices();
      for (const request of await machine.shareRoomKey(room(), users(), settings)) await this.send(request, signal);
      const sealed = await machine.encryptRoomEvent(room(), type, JSON.stringify(content));
      // No key of a message may ever serve a second one.
      await this.#store.flush();
      return encrypted.parse(JSON.parse(sealed));
    });
  }

  /**
   * A backup that was put back knows old positions of the keys that it sends with. New ones are made at each start, so that none
   * serves two messages.
   */
  async #dropOutboundSessions(): Promise<void> {
    const { records, userId } = this.#options;
    const begin = `${userId}/room/`;
    for (const { id } of records.list())
      if (id.startsWith(`${begin}!`))
        await this.machine.invalidateGroupSession(new this.wasm.RoomId(id.slice(begin.length)));
    await this.#store.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.settled();
    await this.#store[Symbol.asyncDispose]();
  }
}

const decrypted = z.looseObject({ type: z.string(), content: z.record(z.string(), z.unknown()) });
const encrypted = z.record(z.string(), z.unknown());

function isUser(id: string): boolean {
  return /^@[^:\s]*:[^\s]+$/.test(id);
}

/** What the library throws is not always an Error. */
function whyNot(error: unknown): string {
  const said: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "description") : undefined;
  return typeof said === "string" ? said : messageOf(error);
}

function foreignDevice(): ChannelError {
  return new ChannelError(
    "The access token for Matrix belongs to a device whose keys another program has, such as Element. " +
      "Encryption needs a device of its own: set channels.matrix.userId and password instead of accessToken, or make a new token.",
  );
}

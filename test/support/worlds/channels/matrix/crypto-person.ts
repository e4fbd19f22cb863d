import { createDecipheriv } from "node:crypto";
import { type CryptoLibrary, loadCrypto, type OlmMachine } from "../../../../../src/channels/matrix/crypto/library.js";
import { sealFile } from "../../../../../src/channels/matrix/crypto/sealed-file.js";
import { botId, type FakeMatrix } from "../../../fakes/matrix/fake-matrix.js";
import type { StoredEvent } from "../../../fakes/matrix/store.js";

type Outgoing = Awaited<ReturnType<OlmMachine["outgoingRequests"]>>[number];

export interface PersonMessage {
  readonly type: string;
  readonly content: Record<string, unknown>;
  readonly event: StoredEvent;
}

/** A person with a client that encrypts, at the same homeserver as the bot. */
export class CryptoPerson {
  readonly id: string;
  readonly device: string;
  readonly #matrix: FakeMatrix;
  readonly #machine: OlmMachine;
  readonly #library: CryptoLibrary;
  #since: number | undefined;

  private constructor(id: string, device: string, matrix: FakeMatrix, machine: OlmMachine, library: CryptoLibrary) {
    this.id = id;
    this.device = device;
    this.#matrix = matrix;
    this.#machine = machine;
    this.#library = library;
  }

  static async open(matrix: FakeMatrix, id: string, device = `PHONE${id.length}`): Promise<CryptoPerson> {
    const library = await loadCrypto(undefined);
    const { wasm } = library;
    const quiet = { debug() {}, info() {}, warn() {}, error() {} };
    const handle = await wasm.StoreHandle.open(undefined, undefined);
    const machine = await wasm.OlmMachine.initFromStore(new wasm.UserId(id), new wasm.DeviceId(device), handle, quiet);
    const person = new CryptoPerson(id, device, matrix, machine, library);
    await person.sync();
    return person;
  }

  /** An encrypted room with these people and the bot. */
  room(people: readonly string[] = [this.id]): string {
    const room = this.#matrix.room(people);
    const content = { algorithm: "m.megolm.v1.aes-sha2" };
    this.#matrix.store.add(room, { type: "m.room.encryption", sender: this.id, state_key: "", content });
    return room;
  }

  /** Hears what is for this device, and says what its machine has to say. */
  async sync(): Promise<void> {
    const { keys, store } = this.#matrix;
    const { wasm } = this.#library;
    const news = keys.news(this.id, this.device, this.#since);
    this.#since = store.count;
    const {
      to_device,
      device_lists,
      device_one_time_keys_count: counts,
    } = (news ?? keys.counts(this.id, this.device)) as {
      readonly to_device?: { readonly events: readonly unknown[] };
      readonly device_lists?: { readonly changed: readonly string[] };
      readonly device_one_time_keys_count: Record<string, number>;
    };
    const lists = new wasm.DeviceLists(
      (device_lists?.changed ?? []).map((user) => new wasm.UserId(user)),
      [],
    );
    const events = JSON.stringify(to_device?.events ?? []);
    await this.#machine.receiveSyncChanges(events, lists, new Map(Object.entries(counts)), new Set());
    for (const request of await this.#machine.outgoingRequests()) await this.#send(request);
  }

  /** Writes; resolves with the id of the event. */
  async write(room: string, text: string, more: Record<string, unknown> = {}): Promise<string> {
    return await this.send(room, "m.room.message", { msgtype: "m.text", body: text, ...more });
  }

  async send(room: string, type: string, content: Record<string, unknown>): Promise<string> {
    const sealed = await this.seal(room, type, content);
    const about = content["m.relates_to"];
    const outer = about === undefined ? sealed : { ...sealed, "m.relates_to": about };
    return this.#matrix.store.add(room, { type: "m.room.encrypted", sender: this.id, content: outer }).event_id;
  }

  async sendFile(room: string, filename: string, bytes: Buffer): Promise<string> {
    const { bytes: sealed, key } = sealFile(bytes);
    const url = this.#matrix.keep(Buffer.from(sealed));
    const info = { mimetype: "text/plain", size: bytes.length };
    return await this.send(room, "m.room.message", {
      msgtype: "m.file",
      body: filename,
      filename,
      info,
      file: { ...key, url },
    });
  }

  async seal(room: string, type: string, content: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { wasm } = this.#library;
    const members = [...(this.#matrix.store.room(room)?.members ?? [])];
    const users = () =>
      members.filter(([, { membership }]) => membership !== "leave").map(([id]) => new wasm.UserId(id));
    await this.sync();
    await this.#machine.updateTrackedUsers(users());
    for (const request of await this.#machine.outgoingRequests()) await this.#send(request);
    const claim = await this.#machine.getMissingSessions(users());
    if (claim) await this.#send(claim);
    const settings = new wasm.EncryptionSettings();
    settings.sharingStrategy = wasm.CollectStrategy.allDevices();
    for (const request of await this.#machine.shareRoomKey(new wasm.RoomId(room), users(), settings))
      await this.#send(request);
    return JSON.parse(await this.#machine.encryptRoomEvent(new wasm.RoomId(room), type, JSON.stringify(content)));
  }

  /** What the bot has said in a room, as this person reads it; throws for what is in clear, or cannot be read. */
  async read(room: string): Promise<readonly PersonMessage[]> {
    await this.sync();
    const { wasm } = this.#library;
    const all = (this.#matrix.store.room(room)?.events ?? []).map(({ event }) => event);
    const read: PersonMessage[] = [];
    for (const event of all.filter(({ sender, state_key: key }) => sender === botId && key === undefined)) {
      if (event.type === "m.reaction" || event.type === "m.room.redaction") continue;
      if (event.type !== "m.room.encrypted")
        throw new Error(`The bot has said in clear: ${JSON.stringify(event.content)}`);
      const settings = new wasm.DecryptionSettings(wasm.TrustRequirement.Untrusted);
      const found = await this.#machine
        .decryptRoomEvent(JSON.stringify(event), new wasm.RoomId(room), settings)
        .catch((error: unknown) => {
          throw new Error(`${this.id} cannot read the bot: ${String(Reflect.get(Object(error), "description"))}`);
        });
      const { type, content } = JSON.parse(found.event) as PersonMessage;
      read.push({ type, content, event });
    }
    return read;
  }

  async texts(room: string): Promise<readonly string[]> {
    return (await this.read(room)).map(({ content }) => String(content.body));
  }

  /** Gets keys that sign this account's devices. Resolves with them, by the names under which a client puts them aside. */
  async makeIdentity(): Promise<Readonly<Record<string, string>>> {
    const { uploadSigningKeysRequest: keys, uploadSignaturesRequest: signatures } =
      await this.#machine.bootstrapCrossSigning(true);
    this.#matrix.keys.uploadSigning(this.id, JSON.parse(keys.body));
    this.#matrix.keys.sign(this.id, JSON.parse(signatures.body));
    const made = await this.#machine.exportCrossSigningKeys();
    return {
      "m.cross_signing.master": made?.masterKey ?? "",
      "m.cross_signing.self_signing": made?.self_signing_key ?? "",
      "m.cross_signing.user_signing": made?.userSigningKey ?? "",
    };
  }

  /** How this person's client shows the bot's device: whether the bot's account vouches for it. */
  async isBotVerified(device = "DEVICE"): Promise<boolean> {
    const { wasm } = this.#library;
    await this.#send(this.#machine.queryKeysForUsers([new wasm.UserId(botId)]));
    const found = await this.#machine.getDevice(new wasm.UserId(botId), new wasm.DeviceId(device));
    return found?.isCrossSignedByOwner() === true;
  }

  async #send(request: Outgoing): Promise<void> {
    const { keys } = this.#matrix;
    const { RequestType } = this.#library.wasm;
    const body = JSON.parse(request.body);
    const answer =
      request.type === RequestType.KeysUpload
        ? keys.upload(this.id, this.device, body)
        : request.type === RequestType.KeysQuery
          ? keys.query(body)
          : request.type === RequestType.KeysClaim
            ? keys.claim(body)
            : "txn_id" in request && "event_type" in request
              ? keys.sendToDevice(this.id, request.event_type, request.txn_id, body)
              : {};
    if (request.id !== undefined)
      await this.#machine.markRequestAsSent(request.id, request.type, JSON.stringify(answer));
  }
}

/** A file as its reader gets it, by the specification. */
export function decryptedFile(
  bytes: Buffer,
  file: { readonly key: { readonly k: string }; readonly iv: string },
): string {
  const key = Buffer.from(file.key.k, "base64url");
  return createDecipheriv("aes-256-ctr", key, Buffer.from(file.iv, "base64")).update(bytes).toString("utf8");
}

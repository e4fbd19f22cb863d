import { join } from "node:path";
import {
  type BinaryNode,
  type ConnectionState,
  decodeMessageNode,
  fetchLatestWaWebVersion,
  generateWAMessage,
  makeWASocket,
  proto,
  unpadRandomMax16,
  type WASocket,
  type WAVersion,
} from "baileys";
import { messageOf } from "../../../../src/errors.js";
import type { Logger } from "../../../../src/log.js";
import { type Arrived, type Draft, type Hear, type LinkEnd, SendFailure, type WhatsApp } from "../whatsapp.js";
import { AuthFiles } from "./auth-files.js";
import { contentOf, quotedOf } from "./compose.js";
import { endOf, outdated, statusOf } from "./ends.js";
import { journalFirst } from "./journal-first.js";
import { download } from "./media.js";
import { toBaileysLogger } from "./quiet-logger.js";
import { toArrived } from "./read-message.js";
import { Takings } from "./takings.js";

export interface LinkOptions {
  readonly home: string;
  readonly log: Logger;
  /** Absent: WhatsApp's own. */
  readonly url?: string | undefined;
  /** How long a connection may take to open. Absent: 20 s. */
  readonly connectMs?: number | undefined;
}

/** WhatsApp by baileys, which speaks as the web page does. */
export class BaileysLink implements WhatsApp {
  readonly #options: LinkOptions;
  readonly #takings = new Takings();
  #auth: AuthFiles;
  #socket: WASocket | undefined;
  #version: WAVersion | undefined;

  private constructor(options: LinkOptions, auth: AuthFiles) {
    this.#options = options;
    this.#auth = auth;
  }

  static async open(options: LinkOptions): Promise<BaileysLink> {
    return new BaileysLink(options, await AuthFiles.open(folderOf(options)));
  }

  async run(hear: Hear, signal: AbortSignal): Promise<LinkEnd> {
    const socket = this.#connect(hear);
    try {
      return await this.#ended(socket, hear, signal);
    } finally {
      this.#socket = undefined;
      this.#takings.loseAll();
    }
  }

  async prepare(draft: Draft): Promise<Uint8Array> {
    const socket = this.#connected();
    const { messageId, to, quoted } = draft;
    try {
      const made = await generateWAMessage(to, contentOf(draft), {
        messageId,
        userJid: socket.user?.id ?? "",
        upload: socket.waUploadToServer,
        logger: toBaileysLogger(this.#options.log),
        ...quotedOf(quoted),
      });
      return proto.Message.encode(made.message ?? {}).finish();
    } catch (error) {
      throw new SendFailure(messageOf(error), "refused", isPassing(error) ? 5000 : undefined);
    }
  }

  async relay(to: string, messageId: string, prepared: Uint8Array, signal: AbortSignal): Promise<void> {
    const socket = this.#connected();
    using taking = this.#takings.expect(messageId, signal);
    try {
      await socket.relayMessage(to, proto.Message.decode(prepared), { messageId });
    } catch (error) {
      // It fails while it asks for the devices of a person, before anything has left, or when the connection breaks.
      throw new SendFailure(messageOf(error), statusOf(error) === undefined ? "unknown" : "refused", 5000);
    }
    await taking.taken;
  }

  async markRead(messages: readonly Arrived["message"][]): Promise<void> {
    const keys = messages.map(({ sender, id, participant }) => ({ remoteJid: sender, id, participant, fromMe: false }));
    await this.#connected().readMessages(keys);
  }

  async showTyping(to: string): Promise<void> {
    await this.#connected().sendPresenceUpdate("composing", to);
  }

  async download(media: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return await download(media, signal);
  }

  async forgetLogin(): Promise<void> {
    const folder = folderOf(this.#options);
    await AuthFiles.putAside(folder);
    this.#auth = await AuthFiles.open(folder);
  }

  #connected(): WASocket {
    if (this.#socket === undefined) throw new SendFailure("Not connected to WhatsApp.", "refused", 5000);
    return this.#socket;
  }

  #connect(hear: Hear): WASocket {
    const { log, url, connectMs } = this.#options;
    const { creds, keys } = this.#auth;
    /** The stanza that each piece of ciphertext came in. */
    const stanzas = new WeakMap<Uint8Array, BinaryNode>();
    const socket = makeWASocket({
      auth: { creds, keys },
      logger: toBaileysLogger(log),
      browser: ["maxclaw", "Desktop", "1.0.0"],
      syncFullHistory: false,
      markOnlineOnConnect: false,
      emitOwnEvents: false,
      getMessage: async ({ id }) => {
        const before = id ? await hear.sentBefore(id) : undefined;
        return before === undefined ? undefined : proto.Message.decode(before);
      },
      makeSignalRepository: journalFirst(async (ciphertext, plaintext) => {
        const stanza = stanzas.get(ciphertext);
        const arrived = stanza === undefined ? undefined : this.#read(stanza, plaintext);
        if (arrived !== undefined) await hear.onMessage(arrived);
      }),
      ...(this.#version === undefined ? {} : { version: this.#version }),
      ...(url === undefined ? {} : { waWebSocketUrl: url }),
      ...(connectMs === undefined ? {} : { connectTimeoutMs: connectMs }),
    });
    // Heard before baileys begins to decrypt: it does that in a later turn of the loop.
    socket.ws.on("CB:message", (stanza: BinaryNode) => {
      if (!Array.isArray(stanza.content)) return;
      for (const { content } of stanza.content) if (content instanceof Uint8Array) stanzas.set(content, stanza);
    });
    socket.ws.on("CB:ack,class:message", ({ attrs: { id = "", error } }: BinaryNode) => {
      this.#takings.note(id, error);
      if (error === undefined) hear.onTaken(id);
    });
    return socket;
  }

  #read(stanza: BinaryNode, plaintext: Uint8Array): Arrived | undefined {
    const { me } = this.#auth.creds;
    if (me === undefined) return undefined;
    const { fullMessage } = decodeMessageNode(stanza, me.id, me.lid ?? "");
    const message = proto.Message.decode(unpadRandomMax16(plaintext));
    return toArrived({ ...fullMessage, message: message.deviceSentMessage?.message ?? message }, me);
  }

  #ended(socket: WASocket, hear: Hear, signal: AbortSignal): Promise<LinkEnd> {
    return new Promise((resolve, reject) => {
      const end = (): void => void socket.end(undefined);
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
      const onUpdate = async ({ connection, lastDisconnect, qr }: Partial<ConnectionState>): Promise<void> => {
        if (qr !== undefined) hear.onState({ state: "code", code: qr });
        if (connection === "open") {
          this.#socket = socket;
          hear.onState({ state: "connected" });
        }
        if (connection !== "close") return;
        signal.removeEventListener("abort", end);
        if (statusOf(lastDisconnect?.error) === outdated) await this.#renewVersion();
        resolve(endOf(lastDisconnect?.error));
      };
      socket.ev.on("connection.update", (update) => void onUpdate(update).catch(reject));
      const { creds } = this.#auth;
      socket.ev.on("creds.update", (update) => {
        Object.assign(creds, update);
        this.#auth.saveCreds().catch(reject);
      });
      // What the phone was asked for again comes only this way.
      socket.ev.on("messages.upsert", ({ messages, type }) => {
        const me = creds.me;
        if (type !== "notify" || me === undefined) return;
        for (const one of messages) {
          const arrived = toArrived(one, me);
          if (arrived !== undefined) void hear.onMessage(arrived);
        }
      });
      socket.ev.on("messages.update", (updates) => {
        // A person's device has it, so WhatsApp has.
        for (const { key, update } of updates)
          if (key.fromMe && key.id && Number(update.status ?? 0) >= proto.WebMessageInfo.Status.SERVER_ACK)
            hear.onTaken(key.id);
      });
      socket.ev.on("message-receipt.update", (updates) => {
        for (const { key } of updates) if (key.fromMe && key.id) hear.onTaken(key.id);
      });
    });
  }

  /** WhatsApp tells the version of its page to everybody. */
  async #renewVersion(): Promise<void> {
    const { version, isLatest } = await fetchLatestWaWebVersion();
    if (isLatest) this.#version = version;
  }
}

function folderOf({ home }: LinkOptions): string {
  return join(home, "auth");
}

function isPassing(error: unknown): boolean {
  return /closed|timed? ?out|connection|upload/i.test(messageOf(error));
}

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { frameMessage } from "../../../src/channels/whatsapp/frames.js";
import { FakeChats } from "../fakes/platform/fake-chats.js";

/** What a link says to the far side, and the far side to a link. */
const said = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ack"), n: z.number() }),
  z.object({ kind: z.literal("relay"), to: z.string(), messageId: z.string(), prepared: z.string() }),
  z.object({ kind: z.literal("read"), ids: z.array(z.string()) }),
  z.object({ kind: z.literal("typing"), to: z.string() }),
]);
export const told = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("message"), n: z.number(), message: frameMessage, media: z.string().optional() }),
  z.object({ kind: z.literal("taken"), messageId: z.string() }),
  z.object({ kind: z.literal("refused"), messageId: z.string(), error: z.string() }),
  z.object({ kind: z.literal("state"), state: z.enum(["code", "logged-out", "replaced"]), code: z.string() }),
]);
/** A message as this far side has it once it is made. */
export const made = z.object({
  text: z.string(),
  quoted: z.string().optional(),
  file: z.object({ name: z.string(), bytes: z.string() }).optional(),
});

export type RelayFault = "cut-before" | "cut-after" | "timeout" | { readonly refused: string };

interface Queued {
  readonly n: number;
  readonly message: object;
  readonly media?: string | undefined;
}

/**
 * WhatsApp behind the bridge's contract: it keeps what a device has not confirmed and gives it again to the next connection,
 * and people's devices show a message of one id once.
 */
export class FarWhatsApp implements AsyncDisposable {
  readonly chats = new FakeChats();
  readonly relays: string[] = [];
  readonly read: string[] = [];
  readonly typing: string[] = [];
  readonly quoted: (string | undefined)[] = [];
  /** All messages that were confirmed, in their order. */
  readonly confirmed: number[] = [];
  readonly #server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  readonly #queue = new Map<number, Queued>();
  readonly #faults: RelayFault[] = [];
  #count = 0;

  static async start(): Promise<FarWhatsApp> {
    const far = new FarWhatsApp();
    await once(far.#server, "listening");
    far.#server.on("connection", (socket) => far.#greet(socket));
    return far;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get connections(): number {
    return this.#server.clients.size;
  }

  /** Somebody writes, whether or not the device is there. */
  write(from: string, content: string, more: object = {}, media?: Buffer): string {
    this.#count += 1;
    const id = `PERSON${this.#count}`;
    const message = {
      id,
      sender: `${from}@s.whatsapp.net`,
      content,
      timestamp: 1,
      isGroup: false,
      fromMe: false,
      ...more,
    };
    const queued = { n: this.#count, message, media: media?.toString("base64") };
    this.#queue.set(queued.n, queued);
    this.#say({ kind: "message", ...queued });
    return id;
  }

  failNext(fault: RelayFault): void {
    this.#faults.push(fault);
  }

  loseConnections(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  tell(state: "code" | "logged-out" | "replaced", code = ""): void {
    this.#say({ kind: "state", state, code });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.loseConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #say(frame: object): void {
    for (const socket of this.#server.clients) socket.send(JSON.stringify(frame));
  }

  #greet(socket: WebSocket): void {
    for (const queued of this.#queue.values()) socket.send(JSON.stringify({ kind: "message", ...queued }));
    socket.on("message", (data) => {
      const frame = said.parse(JSON.parse(String(data)));
      if (frame.kind === "ack") {
        if (this.#queue.delete(frame.n)) this.confirmed.push(frame.n);
      } else if (frame.kind === "read") this.read.push(...frame.ids);
      else if (frame.kind === "typing") this.typing.push(frame.to);
      else this.#relay(socket, frame);
    });
  }

  #relay(socket: WebSocket, { to, messageId, prepared }: { to: string; messageId: string; prepared: string }): void {
    const fault = this.#faults.shift();
    if (fault === "cut-before") {
      socket.terminate();
      return;
    }
    if (typeof fault === "object") {
      socket.send(JSON.stringify({ kind: "refused", messageId, error: fault.refused }));
      return;
    }
    this.relays.push(messageId);
    const { text, file, quoted } = made.parse(JSON.parse(Buffer.from(prepared, "base64").toString()));
    const files = file === undefined ? [] : [{ filename: file.name, bytes: Buffer.from(file.bytes, "base64") }];
    if (this.chats.all.length === 0 || !this.relays.slice(0, -1).includes(messageId)) this.quoted.push(quoted);
    this.chats.show({ chatId: to.replace("@s.whatsapp.net", ""), text, files }, messageId);
    if (fault === "cut-after") socket.terminate();
    else if (fault === undefined) socket.send(JSON.stringify({ kind: "taken", messageId }));
  }
}

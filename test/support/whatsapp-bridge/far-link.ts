import { readFile } from "node:fs/promises";
import { WebSocket } from "ws";
import type { z } from "zod";
import { Takings } from "../../../bridges/whatsapp/src/link/takings.js";
import {
  type Arrived,
  type Draft,
  type Hear,
  type LinkEnd,
  SendFailure,
  type WhatsApp,
} from "../../../bridges/whatsapp/src/whatsapp.js";
import { type made, told } from "./far-whatsapp.js";

/** The bridge's contract with WhatsApp, over a wire to {@link FarWhatsApp}. `step` is called where a process may die. */
export class FarLink implements WhatsApp {
  readonly #url: string;
  readonly #step: (name: string) => void;
  readonly #takings = new Takings(500);
  #socket: WebSocket | undefined;
  forgotten = 0;

  constructor(url: string, step: (name: string) => void = () => undefined) {
    this.#url = url;
    this.#step = step;
  }

  async run(hear: Hear, signal: AbortSignal): Promise<LinkEnd> {
    const socket = new WebSocket(this.#url);
    const cut = (): void => socket.terminate();
    signal.addEventListener("abort", cut, { once: true });
    const end = await new Promise<LinkEnd>((resolve) => {
      let last: Promise<unknown> = Promise.resolve();
      socket.on("open", () => {
        this.#socket = socket;
        this.#step("it is connected");
        hear.onState({ state: "connected" });
      });
      socket.on("message", (data) => {
        last = last.then(() => this.#hear(String(data), hear, resolve));
      });
      socket.on("error", () => undefined);
      socket.on("close", () => resolve({ state: "lost", why: "the far side is gone" }));
    });
    signal.removeEventListener("abort", cut);
    this.#socket = undefined;
    socket.terminate();
    this.#takings.loseAll();
    return end;
  }

  async #hear(data: string, hear: Hear, end: (end: LinkEnd) => void): Promise<void> {
    const frame = told.parse(JSON.parse(data));
    if (frame.kind === "message") {
      this.#step("a message has come");
      await hear.onMessage({ message: frame.message, media: frame.media });
      this.#step("a message is kept");
      this.#say({ kind: "ack", n: frame.n });
      this.#step("a message is confirmed");
    } else if (frame.kind === "taken") {
      this.#step("WhatsApp has taken one");
      hear.onTaken(frame.messageId);
      this.#takings.note(frame.messageId, undefined);
    } else if (frame.kind === "refused") this.#takings.note(frame.messageId, frame.error);
    else if (frame.state === "code") hear.onState({ state: "code", code: frame.code });
    else end({ state: frame.state });
  }

  async prepare({ text, file, quoted }: Draft): Promise<Uint8Array> {
    const bytes = file === undefined ? undefined : (await readFile(file.path)).toString("base64");
    const whole: z.infer<typeof made> = { text, quoted: quoted?.content };
    const withFile = file === undefined ? whole : { ...whole, file: { name: file.name, bytes } };
    return Buffer.from(JSON.stringify(withFile));
  }

  async relay(to: string, messageId: string, prepared: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.#socket === undefined) throw new SendFailure("Not connected to WhatsApp.", "refused", 20);
    using taking = this.#takings.expect(messageId, signal);
    this.#step("one is about to leave");
    this.#say({ kind: "relay", to, messageId, prepared: Buffer.from(prepared).toString("base64") });
    this.#step("one has left");
    await taking.taken;
    this.#step("one is taken");
  }

  async markRead(messages: readonly Arrived["message"][]): Promise<void> {
    this.#say({ kind: "read", ids: messages.map(({ id }) => id) });
  }

  async showTyping(to: string): Promise<void> {
    this.#say({ kind: "typing", to });
  }

  async download(media: string): Promise<AsyncIterable<Uint8Array>> {
    return (async function* () {
      yield Buffer.from(media, "base64");
    })();
  }

  async forgetLogin(): Promise<void> {
    this.forgotten += 1;
  }

  #say(frame: object): void {
    this.#socket?.send(JSON.stringify(frame));
  }
}

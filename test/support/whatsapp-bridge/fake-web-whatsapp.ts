import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type BinaryNode, Curve, decodeBinaryNode, encodeBinaryNode, NOISE_WA_HEADER, WA_CERT_DETAILS } from "baileys";
import { type WebSocket, WebSocketServer } from "ws";
import { NoiseServer } from "./noise.js";

/** Answers a question of the client. Undefined: with nothing in it. */
export type AnswerQuestion = (question: BinaryNode) => BinaryNode[] | undefined;

/** WhatsApp's own server, as far as one device needs it: the real wire, encrypted as the real one. */
export class FakeWebWhatsApp implements AsyncDisposable {
  /** All that devices have said, questions left out. */
  readonly heard: BinaryNode[] = [];
  /** Said to each device as soon as it is there. */
  greeting: readonly BinaryNode[] = [];
  answer: AnswerQuestion = () => undefined;
  readonly #server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  readonly #root = Curve.generateKeyPair();
  #say: (node: BinaryNode) => void = () => undefined;

  /** From now on baileys believes this server, and no other. */
  static async start(): Promise<FakeWebWhatsApp> {
    const fake = new FakeWebWhatsApp();
    WA_CERT_DETAILS.PUBLIC_KEY = fake.#root.public as Buffer<ArrayBuffer>;
    fake.#server.on("connection", (socket) => fake.#greet(socket));
    await once(fake.#server, "listening");
    return fake;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/ws/chat`;
  }

  say(node: BinaryNode): void {
    this.#say(node);
  }

  all(tag: string): readonly BinaryNode[] {
    return this.heard.filter((node) => node.tag === tag);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #greet(socket: WebSocket): void {
    const noise = new NoiseServer(this.#root);
    const write = (data: Uint8Array): void => {
      const length = Buffer.alloc(3);
      length.writeUIntBE(data.length, 0, 3);
      socket.send(Buffer.concat([length, data]));
    };
    const say = (node: BinaryNode): void => write(noise.seal(encodeBinaryNode(node)));
    let waiting: Buffer = Buffer.alloc(0);
    let frames = 0;
    const take = async (frame: Buffer): Promise<void> => {
      frames += 1;
      if (frames === 1) write(noise.hello(frame));
      else if (frames === 2) {
        noise.finish(frame);
        this.#say = say;
        for (const node of this.greeting) say(node);
      } else this.#hear(await decodeBinaryNode(Buffer.from(noise.open(frame))), say);
    };
    let last: Promise<void> = Promise.resolve();
    socket.on("message", (data: Buffer) => {
      const isFirst = frames === 0 && waiting.length === 0;
      waiting = Buffer.concat([waiting, isFirst ? data.subarray(NOISE_WA_HEADER.length) : data]);
      while (waiting.length >= 3 && waiting.length >= 3 + waiting.readUIntBE(0, 3)) {
        const end = 3 + waiting.readUIntBE(0, 3);
        const frame = waiting.subarray(3, end);
        waiting = waiting.subarray(end);
        last = last.then(() => take(frame));
      }
    });
  }

  #hear(node: BinaryNode, say: (node: BinaryNode) => void): void {
    const { id = "", type } = node.attrs;
    if (node.tag !== "iq" || (type !== "get" && type !== "set")) {
      this.heard.push(node);
      return;
    }
    const count = { tag: "count", attrs: { value: "500" } };
    say({ tag: "iq", attrs: { id, type: "result", from: "s.whatsapp.net" }, content: this.answer(node) ?? [count] });
  }
}

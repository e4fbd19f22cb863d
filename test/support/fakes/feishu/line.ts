import type { WebSocket } from "ws";
import { decodeFrame, encodeFrame } from "../../../../src/channels/feishu/receiving/frame.js";

interface Waiting {
  readonly id: string;
  readonly payload: Buffer;
  isSent: boolean;
}

/** Feishu's long connection: an event goes to one connection, and again until somebody answers 200. */
export class FeishuLine {
  /** What was answered to events, with its code. */
  readonly answers: { readonly id: string; readonly code: number; readonly data: unknown }[] = [];
  /** In so many pieces an event comes. */
  pieces = 1;
  /** Connections look well, and bring nothing. */
  isDeaf = false;
  pings = 0;
  readonly #open: WebSocket[] = [];
  readonly #waiting: Waiting[] = [];

  get connected(): number {
    return this.#open.length;
  }

  get unanswered(): number {
    return this.#waiting.length;
  }

  accept(socket: WebSocket): void {
    this.#open.push(socket);
    socket.on("close", () => this.#open.splice(this.#open.indexOf(socket), 1));
    socket.on("message", (data: Buffer) => this.#receive(socket, data));
    this.tellAgain();
  }

  /** What nobody listens to now is told later. */
  tell(id: string, event: object): void {
    if (this.isDeaf) return;
    this.#waiting.push({ id, payload: Buffer.from(JSON.stringify(event)), isSent: false });
    this.#bring();
  }

  /** As Feishu does with what was not answered in time. */
  tellAgain(): void {
    for (const one of this.#waiting) one.isSent = false;
    this.#bring();
  }

  /** Something that is not in Feishu's documents. */
  sendRaw(bytes: Uint8Array): void {
    for (const socket of this.#open) socket.send(bytes);
  }

  #bring(): void {
    const socket = this.#open.at(-1);
    if (socket === undefined) return;
    for (const one of this.#waiting.filter(({ isSent }) => !isSent)) {
      one.isSent = true;
      const size = Math.ceil(one.payload.length / this.pieces);
      const order = Array.from({ length: this.pieces }, (_, seq) => seq).reverse();
      for (const seq of order) {
        const headers = {
          type: "event",
          message_id: one.id,
          sum: String(this.pieces),
          seq: String(seq),
          trace_id: "t",
        };
        const payload = one.payload.subarray(seq * size, (seq + 1) * size);
        const frame = {
          seqId: 7n,
          logId: 2n ** 63n,
          service: 33,
          method: 1,
          headers: new Map(Object.entries(headers)),
        };
        socket.send(encodeFrame({ ...frame, payload }));
      }
    }
  }

  #receive(socket: WebSocket, data: Buffer): void {
    const frame = decodeFrame(data);
    if (frame === undefined) throw new Error("What came is not a frame");
    if (frame.method === 0) {
      this.pings += 1;
      if (frame.service !== 33 || frame.headers.get("type") !== "ping") throw new Error("That is not a ping");
      const payload = Buffer.from(JSON.stringify({ PingInterval: 120 }));
      socket.send(encodeFrame({ ...frame, headers: new Map([["type", "pong"]]), payload }));
      return;
    }
    if (frame.logId !== 2n ** 63n || frame.headers.get("trace_id") !== "t") throw new Error("The answer is to nothing");
    const id = frame.headers.get("message_id") ?? "";
    const said = JSON.parse(Buffer.from(frame.payload ?? []).toString()) as { code: number; data?: string };
    const answer = said.data === undefined ? undefined : JSON.parse(Buffer.from(said.data, "base64").toString());
    this.answers.push({ id, code: said.code, data: answer });
    const at = this.#waiting.findIndex((one) => one.id === id);
    if (said.code === 200 && at !== -1) this.#waiting.splice(at, 1);
  }
}

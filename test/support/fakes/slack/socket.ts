import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";

interface Waiting {
  readonly id: string;
  readonly envelope: object;
  isSent: boolean;
}

/** Socket Mode: envelopes go to one open socket, and again to the next one until they are acknowledged. */
export class SlackSockets {
  /** Acknowledgements, with what they told. */
  readonly acks: { readonly id: string; readonly payload: unknown }[] = [];
  /** Connections look well, and bring nothing. */
  isDeaf = false;
  readonly #open: WebSocket[] = [];
  readonly #waiting: Waiting[] = [];

  get connected(): number {
    return this.#open.length;
  }

  get unacknowledged(): number {
    return this.#waiting.length;
  }

  accept(socket: WebSocket): void {
    this.#open.push(socket);
    socket.on("close", () => this.#open.splice(this.#open.indexOf(socket), 1));
    socket.on("message", (data) => this.#onAck(String(data)));
    const hello = { type: "hello", num_connections: this.#open.length, connection_info: { app_id: "A1" } };
    socket.send(JSON.stringify(hello));
    for (const one of this.#waiting) one.isSent = false;
    this.#bring();
  }

  /** What nobody listens to now is told later, as Slack tries again. */
  tell(type: "events_api" | "interactive" | "slash_commands", payload: object): string {
    const id = randomUUID();
    if (this.isDeaf && type === "events_api") return id;
    const accepts_response_payload = type !== "events_api";
    this.#waiting.push({ id, envelope: { type, envelope_id: id, payload, accepts_response_payload }, isSent: false });
    this.#bring();
    return id;
  }

  /** As Slack does when nobody has acknowledged within some seconds. */
  tellAgain(): void {
    for (const one of this.#waiting) one.isSent = false;
    this.#bring();
  }

  disconnect(reason: string): void {
    for (const socket of this.#open) socket.send(JSON.stringify({ type: "disconnect", reason }));
  }

  sendRaw(text: string): void {
    for (const socket of this.#open) socket.send(text);
  }

  #bring(): void {
    const [socket] = this.#open;
    if (socket === undefined) return;
    for (const one of this.#waiting.filter(({ isSent }) => !isSent)) {
      one.isSent = true;
      socket.send(JSON.stringify(one.envelope));
    }
  }

  #onAck(text: string): void {
    const { envelope_id: id, payload } = JSON.parse(text) as {
      readonly envelope_id: string;
      readonly payload?: unknown;
    };
    const at = this.#waiting.findIndex((one) => one.id === id);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    this.acks.push({ id, payload });
  }
}

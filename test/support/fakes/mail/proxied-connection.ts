import { connect, type Socket } from "node:net";
import type { SendFault } from "../../worlds/channels/channel-harness.js";

export type MailFault = SendFault | "hang" | "for good";

/** What all connections of a proxy have in common. */
export interface ProxyLine {
  readonly target: number;
  readonly rewrite: ((text: string) => string) | undefined;
  readonly taken: string[];
  readonly said: string[];
  readonly delayMs: () => number;
  /** What happens to the mail that has just been handed over. */
  readonly takeFault: () => MailFault | undefined;
}

const endOfText = "\r\n.\r\n";

const answers = {
  "429": "451 4.7.1 Greylisted, please try again in 1 seconds\r\n",
  "5xx": "421 4.3.2 Service is going down\r\n",
  "for good": "550 5.7.1 This mail is not wanted\r\n",
} as const;

/** One program and its server. Reads along where the text of a mail begins and ends. */
export class ProxiedConnection {
  readonly sockets: readonly Socket[];
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #line: ProxyLine;
  /** Of the mail that is being handed over. */
  #text: string | undefined;
  /** The server has the whole text, and has not said yet what it makes of it. */
  #isAnswering = false;
  #fault: MailFault | undefined;

  constructor(client: Socket, line: ProxyLine) {
    this.#line = line;
    this.#client = client;
    this.#server = connect({ port: line.target, host: "127.0.0.1", noDelay: true });
    this.sockets = [this.#client, this.#server];
    for (const socket of this.sockets) {
      socket.on("error", () => {});
      socket.once("close", () => setTimeout(() => this.#end(), line.delayMs()));
    }
    this.#client.on("data", (bytes) => this.#fromProgram(bytes));
    this.#server.on("data", (bytes) => this.#fromServer(bytes));
  }

  #fromProgram(bytes: Buffer): void {
    const said = bytes.toString("latin1");
    this.#line.said.push(said);
    if (this.#text !== undefined) {
      this.#text += said;
      if (this.#text.endsWith(endOfText) && !this.#isToBeHandedOver()) return;
    }
    this.#server.write(bytes);
  }

  /** The text is complete. False: the server does not get its end. */
  #isToBeHandedOver(): boolean {
    const fault = this.#line.takeFault();
    if (fault === "cut-before") this.#end();
    if (fault === "cut-before" || fault === "hang") return false;
    if (fault === "429" || fault === "5xx" || fault === "for good") {
      // The server never gets the end of the text, and forgets it.
      this.#server.destroy();
      this.#client.end(answers[fault]);
      return false;
    }
    this.#fault = fault;
    this.#isAnswering = true;
    return true;
  }

  #fromServer(bytes: Buffer): void {
    const text = bytes.toString("latin1");
    if (this.#isAnswering) {
      this.#isAnswering = false;
      if (text.startsWith("250")) this.#line.taken.push(this.#text ?? "");
      this.#text = undefined;
      if (this.#fault === "cut-after") this.#end();
      if (this.#fault === "cut-after" || this.#fault === "timeout") return;
    } else if (/^354/m.test(text)) {
      this.#text = "";
    }
    const { rewrite } = this.#line;
    const said = rewrite === undefined ? bytes : Buffer.from(rewrite(text), "latin1");
    const delayMs = this.#line.delayMs();
    if (delayMs === 0) this.#client.write(said);
    else setTimeout(() => this.#client.write(said), delayMs);
  }

  #end(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

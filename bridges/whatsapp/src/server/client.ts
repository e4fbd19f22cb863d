import type { WebSocket } from "ws";
import { messageOf } from "../../../../src/errors.js";
import type { Logger } from "../../../../src/log.js";
import { Background } from "../../../../src/util/async/background.js";
import { isSameSecret } from "../../../../src/util/same-secret.js";
import type { BridgeInbox } from "../keep/inbox.js";
import type { Sending } from "../sending.js";
import { type Arrived, SendFailure, type WhatsApp } from "../whatsapp.js";
import { type Command, parseCommand, type SendCommand } from "./commands.js";
import type { Listeners } from "./listeners.js";

export interface ClientParts {
  readonly inbox: BridgeInbox;
  readonly listeners: Listeners;
  readonly sending: Sending;
  readonly whatsapp: WhatsApp;
  readonly maxFileBytes: number;
  readonly markRead: (message: Arrived["message"]) => void;
  /** How the bridge is now, as frames. */
  readonly states: () => readonly object[];
  readonly log: Logger;
  /** Of the whole bridge. */
  readonly signal: AbortSignal;
}

interface ClientHooks {
  readonly onIn: (client: Client) => void;
  readonly onGone: (client: Client) => void;
}

const authMs = 5000;
const noToken = 4001;
const wrongToken = 4003;
const protocol = 2;

/** One connection of a gateway. */
export class Client {
  readonly #socket: WebSocket;
  readonly #parts: ClientParts;
  readonly #hooks: ClientHooks;
  readonly #work: Background;
  readonly #token: string | undefined;

  constructor(socket: WebSocket, token: string | undefined, parts: ClientParts, hooks: ClientHooks) {
    this.#socket = socket;
    this.#parts = parts;
    this.#hooks = hooks;
    this.#work = new Background((error) => parts.log.error("a command failed", { error }));
    this.#token = token;
  }

  /** Whoever shows the token is let in, and all without one where there is none. */
  begin(): void {
    this.#socket.on("error", () => this.#socket.terminate());
    this.#socket.on("close", () => {
      this.#parts.listeners.leaveOut(this.#socket);
      this.#hooks.onGone(this);
    });
    if (this.#token === undefined) this.#letIn();
    else this.#awaitToken(this.#token);
  }

  say(frame: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  close(): void {
    this.#socket.terminate();
  }

  async settled(): Promise<void> {
    await this.#work.settled();
  }

  #awaitToken(token: string): void {
    const late = setTimeout(() => this.#socket.close(noToken, "No token came"), authMs);
    this.#socket.on("close", () => clearTimeout(late));
    this.#socket.once("message", (data: Buffer) => {
      clearTimeout(late);
      const said = parseCommand(data);
      if (said?.type === "auth" && isSameSecret(said.token, token)) this.#letIn();
      else this.#socket.close(wrongToken, "The token is wrong");
    });
  }

  #letIn(): void {
    const { listeners, states, maxFileBytes } = this.#parts;
    this.#hooks.onIn(this);
    this.#socket.on("message", (data: Buffer) => this.#hear(data));
    listeners.add(this.#socket);
    this.say({ type: "hello", bridge: "maxclaw-whatsapp-bridge", protocol, maxFileBytes });
    for (const state of states()) this.say(state);
  }

  #hear(data: Buffer): void {
    const command = parseCommand(data);
    if (command === undefined) this.say({ type: "error", error: "The bridge does not know this command." });
    else if (command.type !== "auth") this.#work.own(this.#obey(command));
  }

  async #obey(command: Exclude<Command, { readonly type: "auth" }>): Promise<void> {
    const { listeners, sending, whatsapp, log } = this.#parts;
    if (command.type === "ack") return await this.#confirm(command.seq, command.read === true);
    if (command.type === "listen") return listeners.listen(this.#socket);
    if (command.type === "typing")
      return await whatsapp.showTyping(command.to).catch((error) => log.debug("typing was not shown", { error }));
    if (command.type === "look" || command.once === true) listeners.leaveOut(this.#socket);
    if (command.type === "look") return;
    if (command.type === "send") await this.#send(command);
    else this.say({ type: "found", id: command.id ?? "", messageId: await sending.find(command) });
  }

  async #confirm(seq: number, isRead: boolean): Promise<void> {
    const { listeners, markRead } = this.#parts;
    const taken = await listeners.confirm(this.#socket, seq);
    if (taken === undefined || !isRead || taken.message.change !== undefined || taken.message.fromMe) return;
    markRead(taken.message);
  }

  async #send(command: SendCommand): Promise<void> {
    const { sending, signal, log } = this.#parts;
    const { id, to } = command;
    try {
      this.say({ type: "sent", id, to, messageId: await sending.send(command, signal) });
    } catch (error) {
      if (!(error instanceof SendFailure)) log.error("a message was not sent", { error });
      // Where the disk fails, WhatsApp may have it already.
      const { outcome, retryAfterMs } = error instanceof SendFailure ? error : { outcome: "unknown" };
      this.say({ type: "error", id, error: messageOf(error), outcome, retryAfterMs });
    }
  }
}

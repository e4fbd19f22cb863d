import type { WebSocket } from "ws";
import { type Identify, ResumedSessions } from "../platform/resumed-sessions.js";

/** QQ's gateway: keeps sessions, and hands out again what they missed. */
export class FakeQqGateway extends ResumedSessions {
  /** An IDENTIFY that asks for more than these is closed with 4014. */
  allowedIntents = -1;
  /** Answers each IDENTIFY with `op 9`. */
  refusesLogins = false;
  readonly identifies: number[] = [];
  readonly #isToken: (token: string) => boolean;
  readonly #botId: string;

  constructor(isToken: (token: string) => boolean, botId: string) {
    super();
    this.#isToken = isToken;
    this.#botId = botId;
  }

  open(client: WebSocket): void {
    this.greet(client);
  }

  /** Something that is not in QQ's documents. */
  sendRaw(text: string): void {
    for (const client of this.sockets) client.send(text);
  }

  protected isToken(token = ""): boolean {
    return this.#isToken(token);
  }

  protected identify(client: WebSocket, { token, intents = 0 }: Identify): void {
    this.identifies.push(intents);
    if (!this.isToken(token) || this.refusesLogins) this.refuse(client);
    else if ((intents & ~this.allowedIntents) !== 0) client.close(4014);
    else {
      // A bot has one session.
      this.forgetSessions();
      this.begin(client, (id) => ({ version: 1, session_id: id, user: { id: this.#botId, bot: true } }));
    }
  }
}

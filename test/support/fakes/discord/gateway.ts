import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { type Identify, ResumedSessions } from "../platform/resumed-sessions.js";

/** Discord's gateway: keeps sessions that were not closed in an orderly way, and hands out again what they missed. */
export class FakeDiscordGateway extends ResumedSessions {
  url = "";
  /** Closes each IDENTIFY with this code. */
  refuseIdentifyWith: number | undefined;
  /** False: as slow as Discord can be with it. */
  tellsOfServers = true;
  readonly identifies: number[] = [];
  /** Intents of the last IDENTIFY. */
  intents = 0;
  readonly #token: string;
  readonly #ready: object;
  readonly #guild: object;
  readonly #sockets = new WebSocketServer({ noServer: true });
  #refusedUntil = 0;

  constructor(
    token: string,
    { guild, ...ready }: { readonly guild: object; readonly [field: string]: unknown },
    { heartbeatMs }: { readonly heartbeatMs?: number },
  ) {
    super();
    this.#token = token;
    this.#guild = guild;
    this.#ready = ready;
    if (heartbeatMs !== undefined) this.heartbeatMs = heartbeatMs;
  }

  get connections(): number {
    return this.#sockets.clients.size;
  }

  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (Date.now() < this.#refusedUntil) {
      socket.destroy();
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (client) => {
      client.on("error", () => client.terminate());
      this.greet(client);
    });
  }

  /** Breaks all connections; new ones are refused for so long. */
  lose(refuseMs = 0): void {
    this.#refusedUntil = Date.now() + refuseMs;
    for (const client of this.#sockets.clients) client.terminate();
  }

  invalidate(): void {
    const known = this.sockets;
    this.forgetSessions();
    for (const client of known) this.refuse(client);
  }

  close(): void {
    for (const client of this.#sockets.clients) client.terminate();
    this.#sockets.close();
  }

  protected isToken(token?: string): boolean {
    return token === this.#token;
  }

  /** What is closed in an orderly way cannot be resumed. */
  protected override left(client: WebSocket, code: number): void {
    super.left(client, code);
    if (code === 1000 || code === 1001) this.forgetLeft();
  }

  protected identify(client: WebSocket, { token, intents = 0 }: Identify): void {
    this.identifies.push(Date.now());
    this.intents = intents;
    const refusal = this.isToken(token) ? this.refuseIdentifyWith : 4004;
    if (refusal !== undefined) {
      client.close(refusal);
      return;
    }
    const more = { resume_gateway_url: this.url, guilds: [], v: 10 };
    const servers = this.tellsOfServers ? [["GUILD_CREATE", this.#guild] as const] : [];
    this.begin(client, (id) => ({ ...this.#ready, session_id: id, ...more }), ...servers);
  }
}

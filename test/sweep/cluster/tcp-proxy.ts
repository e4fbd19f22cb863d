import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** The network between a program and a server on loopback. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections that were made so far. */
  readonly connections: number;
  /** Breaks every connection, and refuses new ones until `mend`. */
  cut(): void;
  /** Passes nothing on in either direction, as a network that loses everything: nobody sees a connection end. */
  swallow(): void;
  /** Everything arrives so much later. */
  delay(ms: number): void;
  /** Works again. What was swallowed is lost, so its connections end. */
  mend(): void;
}

export async function openTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const state = { mode: "passes" as "passes" | "cut" | "swallows", delayMs: 0, connections: 0 };
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer({ noDelay: true }, (client) => {
    if (state.mode === "cut") return void client.destroy();
    state.connections += 1;
    const upstream = connect({ host: "127.0.0.1", port: target, noDelay: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.once("close", () => {
        sockets.delete(from);
        if (state.mode !== "swallows") to.destroySoon();
      });
      from.on("data", (bytes) => {
        const pass = (): void => {
          if (state.mode === "passes" && !to.destroyed) to.write(bytes);
        };
        if (state.delayMs === 0) pass();
        else setTimeout(pass, state.delayMs);
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    get connections() {
      return state.connections;
    },
    cut() {
      state.mode = "cut";
      breakAll();
    },
    swallow() {
      state.mode = "swallows";
    },
    delay(ms) {
      state.delayMs = ms;
    },
    mend() {
      if (state.mode === "swallows") breakAll();
      state.mode = "passes";
      state.delayMs = 0;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      breakAll();
      await closed;
    },
  };
}

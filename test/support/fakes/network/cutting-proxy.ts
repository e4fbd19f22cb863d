import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands between a client and the gateway, and cuts connections in the middle of what the gateway says. */
export interface CuttingProxy extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly connections: number;
  readonly cuts: number;
  /** Passes on nothing more of what the gateway says on the present connections; returns the undo. */
  stall(): () => void;
}

/** Given the number of the connection, from 0: after how many frames it is cut. */
export type CutPlan = (connection: number) => number | undefined;

/**
 * A frame is a WebSocket frame or a block of an event stream. Of the frame after the last one that is passed on the
 * client still gets the first half.
 */
export async function openCuttingProxy(target: string, plan: CutPlan): Promise<CuttingProxy> {
  const gateway = new URL(target);
  const sockets = new Set<Socket>();
  /** Each connection to the gateway, with the client's. */
  const upstreams = new Map<Socket, Socket>();
  const state = { connections: 0, cuts: 0 };
  const server = createServer({ noDelay: true }, (client) => {
    const limit = plan(state.connections++);
    const upstream = connect({ host: gateway.hostname, port: Number(gateway.port), noDelay: true });
    upstreams.set(upstream, client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        upstreams.delete(socket);
        // What was read still arrives.
        other.destroySoon();
      });
    }
    client.pipe(upstream);
    if (limit === undefined) {
      upstream.pipe(client);
      return;
    }
    const frames = createFrameCounter();
    upstream.on("data", (bytes) => {
      const end = frames.endOf(limit, bytes);
      client.write(end === undefined ? bytes : bytes.subarray(0, end));
      if (end === undefined) return;
      state.cuts += 1;
      upstream.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return state.connections;
    },
    get cuts() {
      return state.cuts;
    },
    stall() {
      const stalled = [...upstreams];
      for (const [upstream] of stalled) {
        upstream.unpipe();
        upstream.pause();
      }
      return () => {
        for (const [upstream, client] of stalled) upstream.pipe(client);
      };
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Counts the frames behind the head of an HTTP answer. */
function createFrameCounter() {
  let seen = Buffer.alloc(0);
  let taken = 0;
  let position = -1;
  let isSocket = false;
  let count = 0;

  /** The end of the frame that begins at `position`, once it is there. */
  const frameEnd = (): number | undefined => {
    if (isSocket) {
      const short = (seen[position + 1] ?? 0) & 0x7f;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (position + head > seen.length) return undefined;
      const long = (): number =>
        short === 126 ? seen.readUInt16BE(position + 2) : Number(seen.readBigUInt64BE(position + 2));
      const length = short < 126 ? short : long();
      return position + head + length <= seen.length ? position + head + length : undefined;
    }
    const end = seen.indexOf("\n\n", position);
    return end === -1 ? undefined : end + 2;
  };

  return {
    /** How much of these bytes belongs to the first `limit` frames and the first half of what comes after. */
    endOf(limit: number, bytes: Buffer): number | undefined {
      const before = taken;
      seen = Buffer.concat([seen, bytes]);
      taken += bytes.length;
      if (position === -1) {
        const head = seen.indexOf("\r\n\r\n");
        if (head === -1) return undefined;
        position = head + 4;
        isSocket = seen.toString("latin1", 0, 12).includes(" 101");
      }
      for (let end = frameEnd(); end !== undefined; end = frameEnd()) {
        if (count === limit) return Math.floor((position + end) / 2) - before;
        count += 1;
        position = end;
      }
      return undefined;
    },
  };
}

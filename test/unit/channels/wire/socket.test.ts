import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type WebSocket, WebSocketServer } from "ws";
import { keepSocket, type OpenSocket, type SocketOptions } from "../../../../src/channels/wire/socket.js";
import { ChannelError } from "../../../../src/errors.js";
import { silentLog } from "../../../../src/log.js";
import { until } from "../../../support/engine/engine-kit.js";

/** A platform, and a channel that is connected to it. */
async function open(more: Partial<SocketOptions> = {}, onClient: (socket: WebSocket) => void = () => {}) {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const clients: WebSocket[] = [];
  let refusal = 0;
  server.on("upgrade", (request, socket, head) => {
    if (refusal > 0) return void socket.end(`HTTP/1.1 ${refusal} No\r\nConnection: close\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, (client) => {
      clients.push(client);
      onClient(client);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A loopback server that listens has a port.
  const { port } = server.address() as AddressInfo;
  const messages: string[] = [];
  const opened: OpenSocket[] = [];
  const life = { signs: 0, asked: 0 };
  const stop = new AbortController();
  const running = keepSocket(
    {
      title: "The platform",
      address: async () => {
        life.asked += 1;
        return `ws://127.0.0.1:${port}/?token=secret-${life.asked}`;
      },
      onMessage: (data, isText) => void messages.push(isText ? data.toString() : `${data.length} bytes`),
      onOpen: (socket) => void opened.push(socket),
      onAlive: () => {
        life.signs += 1;
      },
      log: silentLog,
      ...more,
      limits: { firstDelayMs: 5, longestDelayMs: 20, reconnectMs: 5000, openMs: 1000, ...more.limits },
    },
    stop.signal,
  ).then(
    () => undefined,
    (error: unknown) => error,
  );
  return {
    clients,
    messages,
    opened,
    life,
    stop,
    running,
    refuse(status: number) {
      refusal = status;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      for (const client of clients) client.terminate();
      server.close();
      server.closeAllConnections();
    },
  };
}

test("brings messages in their order, sends, and ends soon after an abort", async () => {
  await using t = await open({}, (client) => {
    client.send("one");
    client.send("two");
    client.send(Buffer.from([1, 2, 3]));
  });
  await until("all came", () => t.messages.length === 3);
  assert.deepEqual(t.messages, ["one", "two", "3 bytes"]);
  const said = once(t.clients[0] as WebSocket, "message");
  await t.opened[0]?.send("hello");
  assert.equal(String((await said)[0]), "hello");
  assert.ok(t.life.signs >= 4);
  t.stop.abort();
  assert.equal(await t.running, undefined);
  const late = await t.opened[0]?.send("late").catch((error: unknown) => error);
  assert.ok(late instanceof ChannelError && late.outcome === "refused" && late.retryable);
});

test("comes back after each cut, with a new address, and at once where the platform asks for that", async () => {
  await using t = await open({ onMessage: (_data, _isText, socket) => socket.renew() });
  await until("it is open", () => t.clients.length === 1);
  t.clients[0]?.terminate();
  await until("it is back", () => t.clients.length === 2);
  t.clients[1]?.send("please come again");
  await until("it is back once more", () => t.clients.length === 3 && t.opened.length === 3);
  assert.equal(t.life.asked, 3);
});

test("a connection that looks open but is silent is cut, and one that answers pings stays", async () => {
  const limits = { pingMs: 20, silentMs: 120 };
  await using alive = await open({ limits });
  await using deaf = await open({ limits }, (client) => {
    // It reads nothing any more, so that no ping is answered.
    client.pause();
  });
  await until("the deaf one was cut and came back", () => deaf.clients.length >= 2);
  assert.equal(alive.clients.length, 1);
});

test("what the platform refuses for good ends the run, what may pass does not, and no error names the address", async () => {
  await using refused = await open();
  await until("it is open", () => refused.clients.length === 1);
  refused.refuse(401);
  refused.clients[0]?.terminate();
  const error = await refused.running;
  assert.ok(error instanceof ChannelError && !error.retryable && /refused the connection \(401\)/.test(error.message));
  await using closed = await open({
    onClosed: (code, reason) => (code === 4004 ? new ChannelError(`Not a token: ${reason}`) : undefined),
  });
  await until("it is open", () => closed.clients.length === 1);
  closed.clients[0]?.close(4004, "bad");
  assert.match(String(await closed.running), /Not a token: bad/);
  await using away = await open({ limits: { reconnectMs: 60 } });
  await until("it is open", () => away.clients.length === 1);
  away.refuse(503);
  away.clients[0]?.terminate();
  const gone = await away.running;
  assert.ok(gone instanceof ChannelError && gone.retryable);
  assert.ok(!JSON.stringify([gone.message, gone.stack, gone.cause]).includes("secret-"));
});

test("what a handler throws ends that connection, and not the gateway", async () => {
  await using t = await open({
    onMessage: () => {
      throw new ChannelError("This is not what was agreed.");
    },
  });
  await until("it is open", () => t.clients.length === 1);
  t.clients[0]?.send("nonsense");
  assert.match(String(await t.running), /not what was agreed/);
});

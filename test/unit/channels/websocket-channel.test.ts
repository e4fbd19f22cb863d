import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createConnection } from "node:net";
import { test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { Clients } from "../../../src/channels/websocket/clients.js";
import { createWebSocketChannel, type WebSocketOptions } from "../../../src/channels/websocket/websocket.js";
import { silentLog } from "../../../src/log.js";
import { until } from "../../support/engine/engine-kit.js";
import { failureOf, never, recordPublish, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";

async function open(options: Partial<WebSocketOptions> = {}, gateway = recordPublish()) {
  let port = 0;
  const channel = createWebSocketChannel(
    {
      host: "127.0.0.1",
      port: 0,
      path: "/ws",
      allowOrigins: [],
      busyRetryMs: 20,
      onListening: (listening) => {
        port = listening;
      },
      log: silentLog,
      ...options,
    },
    { cursor: async () => undefined, sendTimeoutMs: 1000 },
  );
  const running = startChannel(channel, gateway.publish);
  await until("it listens", () => running.connections() > 0);
  const connect = (query = "", headers: Record<string, string> = {}) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws${query}`, { headers });
    const frames: Record<string, unknown>[] = [];
    socket.on("message", (data) => frames.push(JSON.parse(data.toString()) as Record<string, unknown>));
    return { socket, frames };
  };
  const statusOf = async (query: string, headers: Record<string, string> = {}): Promise<number> => {
    const { socket } = connect(query, headers);
    socket.on("error", () => {});
    const status = await new Promise<number>((resolve) => {
      socket.once("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
      socket.once("open", () => resolve(101));
    });
    socket.terminate();
    return status;
  };
  /** An upgrade to any target, as no client library would send it. */
  const statusOfTarget = async (target: string): Promise<number> => {
    const socket = createConnection(port, "127.0.0.1");
    const head = `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    socket.write(head);
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return Number(answer.toString().split(" ", 2)[1]);
  };
  return { channel, gateway, running, connect, statusOf, statusOfTarget, [Symbol.asyncDispose]: running.stop };
}

test("says hello with the chat, and takes the frames of the Go maxclaw", async () => {
  await using t = await open();
  const named = t.connect("?chatId=desk");
  const client = t.connect("?clientId=lamp");
  const unnamed = t.connect();
  await until("all are greeted", () => [named, client, unnamed].every(({ frames }) => frames.length === 1));
  assert.deepEqual(named.frames[0], { type: "hello", chatId: "desk" });
  assert.deepEqual(client.frames[0], { type: "hello", chatId: "lamp" });
  assert.match(String(unnamed.frames[0]?.chatId), /^ws-[0-9a-f]{16}$/);
  named.socket.send(JSON.stringify({ content: " hi " }));
  named.socket.send(JSON.stringify({ type: "message", id: "7", chatId: "other", sender: "ann", content: "there" }));
  await until("both came", () => t.gateway.messages.length === 2);
  assert.deepEqual(
    t.gateway.messages.map(({ chatId, senderId, chatType, content, dedupId }) => [
      chatId,
      senderId,
      chatType,
      content,
      dedupId,
    ]),
    [
      ["desk", "desk", "dm", "hi", undefined],
      ["other", "ann", "group", "there", "websocket:other:7"],
    ],
  );
  await until("it is confirmed", () => named.frames.length === 2);
  assert.deepEqual(named.frames[1], { type: "accepted", id: "7", chatId: "other" });
  await t.channel.send(reply("other", "yes"), never);
  assert.deepEqual(named.frames[2], {
    type: "message",
    id: "out_1#1",
    chatId: "other",
    sender: "assistant",
    content: "yes",
  });
  for (const { socket } of [named, client, unnamed]) socket.terminate();
});

test("lets in who shows the token, no web page but the allowed ones, and only to its path", async () => {
  await using t = await open({ token: "long-enough-token", allowOrigins: ["https://mine.example"] });
  assert.equal(await t.statusOf(""), 401);
  assert.equal(await t.statusOf("?token=wrong"), 401);
  assert.equal(await t.statusOf("?token=long-enough-token"), 101);
  const bearer = { authorization: "Bearer long-enough-token" };
  assert.equal(await t.statusOf("", bearer), 101);
  assert.equal(await t.statusOf("", { ...bearer, origin: "https://evil.example" }), 403);
  assert.equal(await t.statusOf("", { ...bearer, origin: "https://mine.example" }), 101);
  assert.equal(await t.statusOf("?chatId=a:b", bearer), 400);
  assert.equal(await t.statusOf("x", bearer), 404);
  for (const target of ["//", "http://[", "*", "/%ff"]) assert.equal(await t.statusOfTarget(target), 404, target);
});

test("behind a trusted proxy wrong tokens are counted by the address that it names, and from anybody else by the connection's", async () => {
  const token = "short-token";
  let trusted: readonly string[] = ["127.0.0.1"];
  await using t = await open({ token, trustedProxies: () => trusted, firstDelayMs: 1 });
  const statusFrom = (address: string, shown: string) => t.statusOf(`?token=${shown}`, { "x-forwarded-for": address });
  assert.deepEqual(await statusesOf(11, () => statusFrom("203.0.113.7", "wrong")), [429], "ten tries are too many");
  assert.equal(await statusFrom("203.0.113.7", token), 429, "a short one is not compared for it any more");
  assert.equal(await statusFrom("198.51.100.9", token), 101, "that is nobody else's fault");
  trusted = [];
  assert.equal(await statusFrom("203.0.113.7", token), 101, "now these are anybody's words");
});

/** The last of the answers to as many at once. */
async function statusesOf(count: number, ask: () => Promise<number>): Promise<readonly number[]> {
  const statuses = await Promise.all(Array.from({ length: count }, ask));
  return [...new Set(statuses)].sort().slice(-1);
}

test("without a token only this machine is listened to", async () => {
  const channel = createWebSocketChannel(
    { host: "0.0.0.0", port: 0, path: "/ws", allowOrigins: [], log: silentLog },
    { cursor: async () => undefined },
  );
  await using running = startChannel(channel, recordPublish().publish);
  assert.match(String(await running.ended), /channels\.websocket\.token/);
});

test("a frame that is not as documented is answered, and harms nothing", async () => {
  await using t = await open();
  const { socket, frames } = t.connect("?chatId=desk");
  await once(socket, "open");
  for (const frame of ["{", "[]", "5", '{"type":"dance"}', '{"content":5}', '{"content":"x","chatId":"../x"}'])
    socket.send(frame);
  socket.send(Buffer.from([1, 2, 3]));
  socket.send(JSON.stringify({ content: "fine" }));
  await until("all are answered", () => t.gateway.messages.length === 1 && frames.length === 8);
  assert.deepEqual(
    frames.map(({ type }) => type),
    ["hello", ...Array.from({ length: 7 }, () => "error")],
  );
  const dance = frames.find((one) => one.type === "error" && !/JSON object/.test(JSON.stringify(one)));
  assert.match(JSON.stringify(dance), /must be message, edit or delete/);
  socket.terminate();
});

test("a message for which there is no room is offered until it is taken, in the order of its chat", async () => {
  let isFull = true;
  const taken: string[] = [];
  const gateway = recordPublish((message) => {
    if (isFull && message.content === "first") return { status: "busy", reply: "Later, please." };
    taken.push(message.content);
    return { status: "accepted" };
  });
  await using t = await open({}, gateway);
  const { socket, frames } = t.connect("?chatId=desk");
  await once(socket, "open");
  socket.send(JSON.stringify({ id: "1", content: "first" }));
  socket.send(JSON.stringify({ id: "2", content: "second" }));
  socket.send(JSON.stringify({ id: "3", chatId: "other", content: "elsewhere" }));
  await until("the other chat goes on", () => taken.includes("elsewhere"));
  await until("it is told", () => frames.some(({ type, error }) => type === "error" && error === "Later, please."));
  isFull = false;
  await until("all are taken", () => taken.length === 3);
  assert.deepEqual(taken, ["elsewhere", "first", "second"]);
  assert.equal(frames.filter(({ type }) => type === "refused").length, 0, "what is taken yet was never refused");
  assert.equal(frames.filter(({ type }) => type === "error").length, 1);
  socket.terminate();
});

test("a send waits for its program, counts as read only with its pong, and many of them hold up nobody", async () => {
  await using t = await open();
  const early = t.channel.send(reply("desk", "welcome back"), never);
  const { socket, frames } = t.connect("?chatId=desk");
  assert.equal((await early).platformMessageId, "out_1#1");
  assert.equal(frames.at(-1)?.content, "welcome back");
  socket.terminate();
  await once(socket, "close");

  const mute = new WebSocket(t.connect("?chatId=mute").socket.url, { autoPong: false });
  await once(mute, "open");
  const silent = await failureOf(t.channel.send(reply("mute", "x"), never));
  assert.deepEqual([silent.outcome, silent.retryable], ["unknown", true]);
  mute.terminate();

  const away = Array.from({ length: 17 }, (_, n) => t.channel.send(reply(`away${n}`, "x"), AbortSignal.timeout(500)));
  const [first] = away;
  const failure = await failureOf(first ?? Promise.resolve());
  assert.deepEqual([failure.outcome, failure.retryable], ["refused", true]);
  await Promise.allSettled(away);
});

test("who has gone silent is cut off, and who is only not being read is not", async () => {
  await using server = await openServer();
  const clients = new Clients();
  const silent = new WeakSet<WebSocket>();
  const [deaf, held] = [await server.accept(), await server.accept()];
  for (const { socket } of [deaf, held]) clients.add(socket);
  held.socket.pause();
  // A program that hangs reads nothing, and so answers no ping.
  deaf.program.pause();
  clients.askAll(silent);
  clients.askAll(silent);
  await until("it is cut off", () => deaf.socket.readyState === WebSocket.CLOSED);
  assert.equal(held.socket.readyState, WebSocket.OPEN);
});

async function openServer() {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    /** Both ends of one connection. */
    async accept() {
      const accepted = once(server, "connection") as Promise<[WebSocket]>;
      const program = new WebSocket(`ws://127.0.0.1:${port}`);
      await once(program, "open");
      return { program, socket: (await accepted)[0] };
    },
    async [Symbol.asyncDispose]() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { WebSocket } from "ws";
import { type Client, ClientError, type ClientOptions, createClient } from "../../../src/client/client.js";
import { eventOf, openFrameServer, until } from "../../support/fakes/web-frames.js";

const timing = { retryMinMs: 20, retryMaxMs: 60, connectTimeoutMs: 400, commandTimeoutMs: 500 };

describe("the client", { timeout: 20_000 }, () => {
  const undo: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });

  async function server(): Promise<Awaited<ReturnType<typeof openFrameServer>>> {
    const opened = await openFrameServer();
    undo.push(() => opened.close());
    return opened;
  }

  function connect(url: ClientOptions["url"], more: Partial<ClientOptions> = {}): Client {
    const client = createClient({ url, WebSocket, ...more, timing: { ...timing, ...more.timing } });
    undo.push(() => client.close());
    return client;
  }

  it("goes from connecting to open to closed and tells each once", async () => {
    const { url } = await server();
    const client = connect(url);
    const told: string[] = [];
    client.onOpen(() => told.push("open"));
    client.onClose(({ retryInMs }) => told.push(`closed, ${retryInMs === undefined ? "for good" : "again"}`));
    assert.equal(client.state, "connecting");
    await until(() => client.state === "open");
    client.close();
    assert.equal(client.state, "closing");
    await until(() => client.state === "closed");
    assert.deepEqual(told, ["open", "closed, for good"]);
  });

  it("answers each command with its own response, in whatever order they come", async () => {
    const gateway = await server();
    gateway.onCommand = (frame, socket) => {
      const answer = (): void => socket.respond(frame.id, { success: true, data: frame.command.payload });
      if (frame.command.type === "slow") setTimeout(answer, 50);
      else answer();
    };
    const client = connect(gateway.url);
    const answers = await Promise.all([client.command("slow", { n: 1 }), client.command("fast", { n: 2 })]);
    assert.deepEqual(answers, [{ n: 1 }, { n: 2 }]);
  });

  it("rejects what the gateway ends the connection for as too large, and brings what was beside it again", async () => {
    const gateway = await server();
    gateway.onCommand = () => gateway.end(1009);
    const client = connect(gateway.url);
    const outcomes = ["a", "a".repeat(500), "b"].map((text) => client.command("say", { text }));
    const errors = await Promise.all(
      outcomes.map((outcome) =>
        outcome.then(
          () => undefined,
          (error) => error,
        ),
      ),
    );
    assert.deepEqual(
      errors.map(({ kind, code }) => [kind, code]),
      [
        ["lost", ""],
        ["refused", "too_large"],
        ["lost", ""],
      ],
    );
  });

  it("rejects a refused command with the gateway's words and code", async () => {
    const gateway = await server();
    gateway.onCommand = ({ id }, socket) =>
      socket.respond(id, { success: false, error: "There is no such session.", code: "not_found" });
    const refused = connect(gateway.url).command("session_status", {});
    await assert.rejects(refused, (error) => {
      assert.ok(error instanceof ClientError);
      assert.deepEqual([error.kind, error.message, error.code], ["refused", "There is no such session.", "not_found"]);
      return true;
    });
  });

  it("gives up on a command without an answer, and on a connection that has gone silent", async () => {
    const gateway = await server();
    gateway.onCommand = () => undefined;
    const client = connect(gateway.url, { timing: { commandTimeoutMs: 80 } });
    await assert.rejects(client.command("anything", {}), { kind: "timeout" });
    await until(() => gateway.connections >= 2);
  });

  it("keeps a command that was given while away, and rejects one whose answer was cut off", async () => {
    const gateway = await server();
    gateway.onCommand = ({ id, command }, socket) => {
      if (command.type === "cut") gateway.cut();
      else socket.respond(id, { success: true, data: command.type });
    };
    const client = connect(gateway.url);
    await assert.rejects(client.command("cut", {}), { kind: "lost" });
    assert.equal(client.state, "closed");
    assert.equal(await client.command("later", {}), "later");
    client.close();
    await assert.rejects(client.command("too late", {}), { kind: "closed" });
  });

  it("follows a session over cuts without a gap and without a repeat", async () => {
    const gateway = await server();
    const log = Array.from({ length: 60 }, (_, index) => eventOf("webui:a", index + 1));
    let written = 0;
    gateway.onCommand = ({ id, command }, socket) => {
      socket.respond(id, { success: true });
      if (command.type !== "events_subscribe") return;
      const from = Number(command.payload.from_sequence);
      // One event too early, as if the client's last had been lost on the way.
      for (const event of log.slice(Math.max(0, from - 1), written)) socket.event(event);
    };
    const client = connect(gateway.url);
    const seen: (number | null)[] = [];
    client.subscribe("webui:a", (event) => seen.push(event.seq), { fromSequence: 0 });
    await until(() => client.state === "open");
    for (const event of log) {
      written += 1;
      gateway.broadcast(event);
      if (written % 20 === 0) {
        await until(() => seen.length > 0);
        const before = gateway.connections;
        gateway.cut();
        await until(() => gateway.connections > before && client.state === "open");
      }
    }
    await until(() => seen.length >= 60);
    assert.deepEqual(
      seen,
      log.map(({ seq }) => seq),
    );
    assert.equal(gateway.connections, 4);
  });

  it("asks again from the last event that it saw", async () => {
    const gateway = await server();
    const asked: unknown[] = [];
    gateway.onCommand = ({ id, command }, socket) => {
      if (command.type === "events_subscribe") asked.push(command.payload);
      socket.respond(id, { success: true });
    };
    const client = connect(gateway.url);
    const seen: number[] = [];
    client.subscribe("webui:a", (event) => seen.push(event.seq ?? 0), { fromSequence: 7 });
    await until(() => asked.length === 1);
    gateway.broadcast(eventOf("webui:a", 8));
    gateway.broadcast(eventOf("webui:b", 9));
    await until(() => seen.length === 1);
    gateway.cut();
    await until(() => asked.length === 2);
    const payloads = [7, 8].map((from_sequence) => ({ session_key: "webui:a", from_sequence }));
    assert.deepEqual(asked, payloads);
  });

  it("takes for a session only what came after its own answer, and spares `*` that session's past", async () => {
    const gateway = await server();
    let answer: (() => void) | undefined;
    gateway.onCommand = ({ id, command }, socket) => {
      if (command.payload.session_key === "*") socket.respond(id, { success: true, data: {} });
      else answer = () => socket.respond(id, { success: true, data: { last_sequence: 3 } });
    };
    const client = connect(gateway.url);
    const seen: (number | null)[] = [];
    const everywhere: string[] = [];
    client.subscribe("*", (event) => everywhere.push(`${event.session_key} ${event.seq}`));
    client.subscribe("webui:a", (event) => seen.push(event.seq), { fromSequence: 0 });
    await until(() => answer !== undefined);
    // As `*` brings it: its past has not been told yet.
    gateway.broadcast(eventOf("webui:a", 3));
    await until(() => everywhere.length === 1);
    assert.deepEqual(seen, []);
    answer?.();
    for (const seq of [1, 2, 3, 4]) gateway.broadcast(eventOf("webui:a", seq));
    gateway.broadcast(eventOf("webui:b", 1));
    gateway.broadcast(eventOf("system:n", 1));
    await until(() => everywhere.length >= 3 && seen.length >= 4);
    assert.deepEqual(seen, [1, 2, 3, 4]);
    assert.deepEqual(everywhere, ["webui:a 3", "webui:a 4", "webui:b 1"]);
  });

  it("begins now unless told where, and then resumes from there", async () => {
    const gateway = await server();
    const asked: unknown[] = [];
    gateway.onCommand = ({ id, command }, socket) => {
      asked.push(command.payload.from_sequence);
      socket.respond(id, { success: true, data: { last_sequence: 40 } });
    };
    const client = connect(gateway.url);
    const seen: (number | null)[] = [];
    client.subscribe("webui:a", (event) => seen.push(event.seq));
    await until(() => asked.length === 1);
    gateway.cut();
    await until(() => asked.length === 2);
    // A log may begin late, or have a gap that nothing can fill.
    for (const seq of [40, 41, 50]) gateway.broadcast(eventOf("webui:a", seq));
    await until(() => seen.length === 2);
    assert.deepEqual(seen, [41, 50]);
    assert.deepEqual(asked, [undefined, 40]);
  });

  it("says so when the gateway lost what it had told, and takes what comes in its place", async () => {
    const gateway = await server();
    let last = 5;
    gateway.onCommand = ({ id, command }, socket) => {
      socket.respond(id, { success: true, data: { last_sequence: last } });
      for (let seq = Number(command.payload.from_sequence) + 1; seq <= last; seq++)
        socket.event(eventOf("webui:a", seq));
    };
    const client = connect(gateway.url);
    const seen: unknown[] = [];
    const onRewind = (to: number): unknown => seen.push(`back to ${to}`);
    client.subscribe("webui:a", (event) => seen.push(event.seq), { fromSequence: 3, onRewind });
    await until(() => seen.length === 2);
    last = 4;
    gateway.cut();
    await until(() => seen.length === 3);
    gateway.broadcast(eventOf("webui:a", 5));
    await until(() => seen.length === 4);
    assert.deepEqual(seen, [4, 5, "back to 4", 5]);
  });

  it("follows more sessions than the gateway takes commands at once", async () => {
    const gateway = await server();
    const followed = new Set<unknown>();
    let running = 0;
    gateway.onCommand = ({ id, command }, socket) => {
      running += 1;
      const isBusy = running > 64;
      setImmediate(() => {
        running -= 1;
        if (!isBusy) followed.add(command.payload.session_key);
        socket.respond(id, isBusy ? { success: false, error: "Too many.", code: "BUFFER_FULL" } : { success: true });
      });
    };
    const client = connect(gateway.url);
    const errors: Error[] = [];
    client.onError((error) => errors.push(error));
    for (let n = 0; n < 200; n++) client.subscribe(`webui:${n}`, () => undefined);
    await until(() => followed.size + errors.length === 200);
    assert.deepEqual(errors, []);
  });

  it("tries again without end, waits longer each time and starts over once it was open", async () => {
    const gateway = await server();
    const client = connect(gateway.url);
    const waits: number[] = [];
    client.onClose(({ retryInMs }) => waits.push(retryInMs ?? -1));
    await until(() => client.state === "open");
    gateway.refuses = true;
    gateway.cut();
    await until(() => waits.length >= 5);
    const bounds = [20, 30, 45, 60, 60];
    for (const [index, wait] of waits.slice(0, 5).entries()) {
      const about = bounds[index] ?? 60;
      assert.ok(wait >= about * 0.79 && wait <= about * 1.21, `wait ${index + 1} is ${wait} ms, not about ${about}`);
    }
    gateway.refuses = false;
    await until(() => client.state === "open");
    const count = waits.length;
    gateway.cut();
    await until(() => waits.length > count);
    assert.ok((waits[count] ?? 0) <= 24);
  });

  it("by default gives an attempt 4 s, and the next ones 1 s × 1.5 up to 30 s later, without end", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    t.mock.method(Math, "random", () => 0.5);
    let attempts = 0;
    class SilentSocket {
      readonly readyState = 0;
      constructor() {
        attempts += 1;
      }
      send(): void {}
      close(): void {}
      addEventListener(): void {}
    }
    const client = createClient({ url: "http://127.0.0.1:1", WebSocket: SilentSocket });
    const waits: (number | undefined)[] = [];
    client.onClose(({ retryInMs }) => waits.push(retryInMs));
    for (let attempt = 1; attempt <= 12; attempt++) {
      t.mock.timers.tick(waits.at(-1) ?? 0);
      assert.equal(client.state, "connecting");
      await new Promise(setImmediate);
      assert.equal(attempts, attempt);
      t.mock.timers.tick(3999);
      assert.equal(client.state, "connecting");
      t.mock.timers.tick(1);
      assert.equal(client.state, "closed");
    }
    assert.deepEqual(waits, [1000, 1500, 2250, 3375, 5063, 7594, 11391, 17086, 25629, 30000, 30000, 30000]);
    client.close();
    assert.deepEqual([client.state, waits.at(-1), waits.length], ["closed", undefined, 13]);
    const early = createClient({ url: "http://127.0.0.1:1", WebSocket: SilentSocket });
    assert.equal(early.state, "connecting");
    early.close();
    assert.equal(early.state, "closed");
    t.mock.timers.tick(60_000);
    await new Promise(setImmediate);
    assert.equal(attempts, 12);
  });

  it("gives up on a server that takes the connection and says nothing", async () => {
    const gateway = await server();
    gateway.isMute = true;
    const client = connect(gateway.url, { timing: { connectTimeoutMs: 60 } });
    const errors: string[] = [];
    client.onError((error) => errors.push(error.message));
    await until(() => errors.some((message) => message.includes("60 ms")));
    gateway.isMute = false;
    await until(() => client.state === "open");
  });

  it("gives up an attempt also while it looks for the address, which it asks for each time", async () => {
    const gateway = await server();
    const address = new URL(gateway.url);
    let asked = 0;
    const url = (): string | Promise<string> => {
      asked += 1;
      if (asked === 1) throw new Error("nobody is there");
      return asked === 2 ? new Promise(() => undefined) : `http://${address.host}`;
    };
    const client = connect(url, { timing: { connectTimeoutMs: 400 } });
    const errors: string[] = [];
    client.onError((error) => errors.push(error.message));
    await until(() => client.state === "open");
    assert.deepEqual(errors, ["nobody is there", "No connection within 400 ms"]);
    assert.equal(asked, 3);
    assert.equal(gateway.lastUrl, "/ws", "the WebSocket of an http address");
  });

  it("closes without an error while it connects, and without an answer when the far side is silent", async () => {
    const gateway = await server();
    gateway.isMute = true;
    const early = connect(gateway.url, { timing: { connectTimeoutMs: 60_000 } });
    const told: string[] = [];
    early.onError((error) => told.push(error.message));
    early.onClose(({ retryInMs }) => told.push(`closed ${retryInMs}`));
    await until(() => gateway.lastUrl !== "");
    early.close();
    await until(() => early.state === "closed");
    assert.deepEqual(told, ["closed undefined"]);
    gateway.isMute = false;
    const late = connect(gateway.url, { timing: { connectTimeoutMs: 50 } });
    await until(() => late.state === "open");
    gateway.pause();
    late.close();
    assert.equal(late.state, "closing");
    await until(() => late.state === "closed");
  });

  it("asks a gateway that has said nothing for long whether it is there, and leaves a dead connection", async () => {
    const gateway = await server();
    const asked: string[] = [];
    gateway.onCommand = ({ id, command }, socket) => {
      asked.push(command.type);
      if (asked.length < 3) socket.respond(id, { success: true, data: {} });
    };
    const client = connect(gateway.url, { timing: { idleMs: 30, commandTimeoutMs: 400 } });
    await until(() => gateway.connections === 2 && client.state === "open");
    assert.deepEqual([...new Set(asked)], ["ping"]);
    assert.ok(asked.length >= 3);
  });

  it("sends a message again under its id when the answer was cut off", async () => {
    const gateway = await server();
    const sent: Record<string, unknown>[] = [];
    gateway.onCommand = ({ id, command: { payload } }, socket) => {
      if (sent.push(payload) === 1) gateway.cut();
      else socket.respond(id, { success: true, data: { message_id: payload.message_id, status: "duplicate" } });
    };
    const client = connect(gateway.url);
    const { messageId, status } = await client.sendMessage({ sessionKey: "webui:a", content: "hello" });
    assert.match(messageId, /^msg_[0-9a-f]{20}$/);
    assert.equal(status, "duplicate");
    assert.deepEqual(sent, Array(2).fill({ session_key: "webui:a", content: "hello", message_id: messageId }));
  });

  it("tells every listener until its undo, also when another one throws", async () => {
    const gateway = await server();
    const client = connect(gateway.url);
    const told: string[] = [];
    const thrown: unknown[] = [];
    const faults = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", (error) => thrown.push(error));
    undo.push(() => {
      process.removeAllListeners("uncaughtException");
      for (const listener of faults) process.on("uncaughtException", listener);
    });
    client.onMessage(() => {
      throw new Error("mine");
    });
    const forget = [
      client.onMessage((frame) => told.push(frame.type)),
      client.onOpen(() => told.push("open")),
      client.onClose(() => told.push("closed")),
      client.onError(() => told.push("error")),
    ];
    await client.command("anything", {});
    gateway.broadcast(eventOf("webui:a", 1));
    await until(() => told.length === 3);
    gateway.raw("{");
    await until(() => told.length === 4);
    gateway.cut();
    await until(() => told.length === 6);
    assert.deepEqual(told, ["open", "response", "event", "error", "closed", "open"]);
    for (const step of forget) step();
    await client.command("anything", {});
    gateway.cut();
    await until(() => gateway.connections >= 3);
    assert.equal(told.length, 6);
    assert.ok(thrown.length >= 2);
  });

  it("carries the token in a header of the socket, never in its address", async () => {
    const gateway = await server();
    const client = connect(gateway.url, { token: "a&b c 漢" });
    await until(() => client.state === "open");
    assert.equal(gateway.lastUrl, "/ws");
    const [name, carrier = ""] = gateway.lastProtocols;
    assert.equal(name, "maxclaw");
    assert.match(carrier, /^maxclaw\.token\.[\w-]+$/);
    assert.equal(Buffer.from(carrier.slice("maxclaw.token.".length), "base64url").toString(), "a&b c 漢");
    const plain = connect(gateway.url);
    await until(() => plain.state === "open");
    assert.deepEqual(gateway.lastProtocols, [], "without a token there is nothing to carry");
  });

  it("stops telling after an undo and lives through frames that make no sense", async () => {
    const gateway = await server();
    const client = connect(gateway.url);
    const seen: unknown[] = [];
    const errors: Error[] = [];
    const unsubscribe = client.subscribe("webui:a", (event) => seen.push(event.seq), { fromSequence: 0 });
    const forget = client.onError((error) => errors.push(error));
    assert.throws(() => client.subscribe("webui:a", () => undefined), /already/);
    await until(() => client.state === "open");
    for (const text of ["{", "[]", "null", '{"type":"event","event":{"type":"x"}}', '{"type":"response"}'])
      gateway.raw(text);
    await until(() => errors.length === 5);
    forget();
    gateway.raw("{");
    gateway.broadcast(eventOf("webui:a", 1));
    await until(() => seen.length === 1);
    unsubscribe();
    gateway.broadcast(eventOf("webui:a", 2));
    await client.command("ping", {});
    assert.deepEqual(seen, [1]);
    assert.equal(errors.length, 5);
  });
});

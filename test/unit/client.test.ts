import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { WebSocket } from "ws";
import { type Client, ClientError, createClient } from "../../src/client/client.js";
import type { GatewayEvent } from "../../src/events/event.js";
import { eventOf, openFrameServer, until } from "../support/web-frames.js";

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

  function connect(url: string, more: { token?: string; timing?: Partial<typeof timing> } = {}): Client {
    const client = createClient({ url, token: more.token, WebSocket, timing: { ...timing, ...more.timing } });
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
    await until(() => gateway.connections === 2);
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
    client.subscribe("webui:a", 0, (event) => seen.push(event.seq));
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
    client.subscribe("webui:a", 7, (event) => seen.push(event.seq ?? 0));
    await until(() => asked.length === 1);
    gateway.broadcast(eventOf("webui:a", 8));
    gateway.broadcast(eventOf("webui:b", 9));
    await until(() => seen.length === 1);
    gateway.cut();
    await until(() => asked.length === 2);
    const payloads = [7, 8].map((from_sequence) => ({ session_key: "webui:a", from_sequence }));
    assert.deepEqual(asked, payloads);
  });

  it("keeps the past before what `*` has told already", async () => {
    const gateway = await server();
    const client = connect(gateway.url);
    const seen: string[] = [];
    const everywhere: (number | null)[] = [];
    client.subscribe("*", 0, (event) => everywhere.push(event.seq), { types: ["agent_state_changed"] });
    client.subscribe("webui:a", 0, (event) => seen.push(`${event.type} ${event.seq}`));
    await until(() => client.state === "open");
    gateway.broadcast(eventOf("webui:a", 3));
    gateway.broadcast(eventOf("webui:a", null, "text_delta"));
    for (const seq of [1, 2, 3, 4]) gateway.broadcast(eventOf("webui:a", seq));
    await until(() => seen.length === 5);
    const state = "agent_state_changed";
    assert.deepEqual(seen, [`${state} 1`, `${state} 2`, `${state} 3`, "text_delta null", `${state} 4`]);
    assert.deepEqual(everywhere, [3, 4]);
  });

  it("does not wait for ever for events that do not exist", async () => {
    const gateway = await server();
    const client = connect(gateway.url);
    const seen: (number | null)[] = [];
    client.subscribe("webui:a", 0, (event: GatewayEvent) => seen.push(event.seq));
    await until(() => client.state === "open");
    for (const seq of [41, 42]) gateway.broadcast(eventOf("webui:a", seq));
    assert.deepEqual(seen, []);
    await until(() => seen.length === 2);
    assert.deepEqual(seen, [41, 42]);
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

  it("carries the token to the socket and nowhere else", async () => {
    const gateway = await server();
    const client = connect(gateway.url, { token: "a&b c" });
    await until(() => client.state === "open");
    assert.equal(new URL(gateway.lastUrl, "ws://x").searchParams.get("token"), "a&b c");
  });

  it("stops telling after an undo and lives through frames that make no sense", async () => {
    const gateway = await server();
    const client = connect(gateway.url);
    const seen: unknown[] = [];
    const errors: Error[] = [];
    const unsubscribe = client.subscribe("webui:a", 0, (event) => seen.push(event.seq));
    const forget = client.onError((error) => errors.push(error));
    assert.throws(() => client.subscribe("webui:a", 0, () => undefined), /already/);
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

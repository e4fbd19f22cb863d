import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CommandName, commandParams } from "../../../src/api/commands/command-params.js";
import type { GatewayApi } from "../../../src/api/gateway-api.js";
import { RequestError } from "../../../src/errors.js";
import { openSocket } from "../../support/worlds/http/http-clients.js";
import { openTestServer, type TestServer } from "../../support/worlds/http/http-server.js";

const key = "webui:1";
const path = `/api/sessions/${encodeURIComponent(key)}`;

type Call = readonly [operation: string, ...args: unknown[]];

/** One command in the three ways in which it can be given, and what the gateway is to do of it. */
interface Way {
  readonly payload: object;
  readonly http: readonly [method: string, path: string, body?: object];
  readonly program: (api: GatewayApi) => Promise<unknown>;
  readonly does: Call;
}

const file = { path: "/w/.uploads/a.png", filename: "a.png", mimeType: "image/png", sizeBytes: 3 };
const longTitle = `  ${"x".repeat(199)}😀 and more  `;
const message = { sessionKey: key, content: "hi", chatId: "7", selectedSkills: ["none"], attachments: [file] };

const ways: Readonly<Record<CommandName, Way>> = {
  message_send: {
    payload: {
      session_key: key,
      content: "hi",
      chat_id: "7",
      selected_skills: ["none"],
      attachments: [{ path: "/w/.uploads/a.png", size: 3 }],
      message_id: "msg_mine_1",
    },
    http: [
      "POST",
      "/api/message",
      { ...message, attachments: [{ path: "/w/.uploads/a.png", size: 3 }], messageId: "msg_mine_1" },
    ],
    program: (api) => api.send({ ...message, messageId: "msg_mine_1" }),
    does: ["send", { ...message, messageId: "msg_mine_1" }],
  },
  turn_cancel: {
    payload: { session_key: key },
    http: ["POST", `${path}/stop`],
    program: (api) => api.stopTurn(key),
    does: ["stopTurn", key],
  },
  turn_retry: {
    payload: { session_key: key, turn_id: "turn_1", message_id: "msg_mine_2" },
    http: ["POST", `${path}/retry`, { turnId: "turn_1", messageId: "msg_mine_2" }],
    program: (api) => api.retryTurn({ sessionKey: key, turnId: "turn_1", messageId: "msg_mine_2" }),
    does: ["retryTurn", { sessionKey: key, turnId: "turn_1", messageId: "msg_mine_2" }],
  },
  session_open: {
    payload: { session_key: key, title: "t", cwd: "a" },
    http: ["POST", "/api/sessions", { key, title: "t", cwd: "a" }],
    program: (api) => api.createSession({ key, title: "t", cwd: "a" }),
    does: ["createSession", { key, title: "t", cwd: "a" }],
  },
  session_list: {
    payload: { chat_id: "7", offset: 2 },
    http: ["GET", "/api/sessions?chat_id=7&offset=2"],
    program: (api) => api.listSessions({ chatId: "7", limit: 200, offset: 2 }),
    does: ["listSessions", { chatId: "7", limit: 200, offset: 2 }],
  },
  session_search: {
    payload: { query: "a b", limit: 5, session_key: key },
    http: ["GET", `/api/search?q=a+b&limit=5&session=${encodeURIComponent(key)}`],
    program: (api) => api.searchSessions({ text: "a b", limit: 5, sessionKey: key }),
    does: ["searchSessions", { text: "a b", limit: 5, sessionKey: key }],
  },
  session_marks_set: {
    payload: { session_key: key, pinned: true },
    http: ["PUT", `${path}/marks`, { pinned: true }],
    program: (api) => api.markSession(key, { pinned: true }),
    does: ["markSession", key, { pinned: true }],
  },
  session_read: {
    payload: { session_key: key, seq: 7 },
    http: ["POST", `${path}/read`, { seq: 7 }],
    program: (api) => api.readSession(key, 7),
    does: ["readSession", key, 7],
  },
  session_delete: {
    payload: { session_key: key },
    http: ["DELETE", path],
    program: (api) => api.deleteSession(key),
    does: ["deleteSession", key],
  },
  session_title_set: {
    payload: { session_key: key, title: longTitle },
    http: ["POST", `${path}/rename`, { title: longTitle }],
    program: (api) => api.renameSession(key, longTitle),
    does: ["renameSession", key, "x".repeat(199)],
  },
  session_status: {
    payload: { session_key: key, include_recovery: true, from_sequence: 4 },
    http: ["GET", `${path}/status?include_recovery=1&from_sequence=4`],
    program: (api) => api.sessionStatus(key, { includeRecovery: true, fromSequence: 4 }),
    does: ["sessionStatus", key, { includeRecovery: true, fromSequence: 4 }],
  },
  session_abort: {
    payload: { session_key: key },
    http: ["POST", `${path}/abort`],
    program: (api) => api.abortSession(key),
    does: ["abortSession", key],
  },
  session_complete: {
    payload: { session_key: key },
    http: ["POST", `${path}/complete`],
    program: (api) => api.completeSession(key),
    does: ["completeSession", key],
  },
  session_fork: {
    payload: { session_key: key, at: 3 },
    http: ["POST", `${path}/fork`, { at: 3 }],
    program: (api) => api.forkSession(key, 3),
    does: ["forkSession", key, 3],
  },
  human_input_reply: {
    payload: { session_key: key, request_id: "ask_1", values: { A_KEY: "x" } },
    http: ["POST", `${path}/answer`, { requestId: "ask_1", values: { A_KEY: "x" } }],
    program: (api) => api.answerQuestion({ sessionKey: key, requestId: "ask_1", values: { A_KEY: "x" } }),
    does: ["answerQuestion", { sessionKey: key, requestId: "ask_1", values: { A_KEY: "x" } }],
  },
};

/** Replaces each operation by one that refuses, and keeps what it was called with. */
function recordCalls({ gateway }: TestServer): Call[] {
  const calls: Call[] = [];
  const operations = gateway.operations as unknown as Record<string, unknown>;
  for (const { does } of Object.values(ways))
    operations[does[0]] = async (...args: unknown[]) => {
      calls.push([does[0], ...args.map((arg) => JSON.parse(JSON.stringify(arg)))]);
      throw new RequestError("Not now.", { status: 409, code: "wrong_state" });
    };
  return calls;
}

async function overHttp(url: string, [method, to, body]: Way["http"]): Promise<{ status: number; error: string }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}${to}`, {
    method,
    ...(body === undefined ? {} : { headers, body: JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as { error: string };
  return { status: response.status, error };
}

describe("a command that clients give", () => {
  test("is run by one handler, with the same parameters, whether it comes over WebSocket, HTTP or from a program", async () => {
    await using served = await openTestServer();
    const { gateway, url } = served;
    const calls = recordCalls(served);
    const client = await openSocket(url);
    assert.deepEqual(Object.keys(ways).sort(), Object.keys(commandParams).sort());
    for (const [command, way] of Object.entries(ways)) {
      const overSocket = await client.command(command, way.payload);
      assert.deepEqual([overSocket.error, overSocket.code], ["Not now.", "wrong_state"], command);
      assert.deepEqual(await overHttp(url, way.http), { status: 409, error: "Not now." }, command);
      await assert.rejects(way.program(gateway.api), { message: "Not now.", status: 409 }, command);
      assert.deepEqual(calls.splice(0), [way.does, way.does, way.does], command);
    }
    client.socket.terminate();
  });

  test("is on the bus, where nobody else can answer it as well", async () => {
    await using served = await openTestServer();
    const { gateway } = served;
    for (const command of Object.keys(commandParams) as CommandName[])
      assert.throws(() => gateway.bus.handle(command, () => Promise.reject(new Error("mine"))), /handler already/);
    gateway.bus.destroy();
    const client = await openSocket(served.url);
    const overSocket = await client.command("turn_cancel", { session_key: key });
    assert.deepEqual([overSocket.error, overSocket.code], ["The gateway is stopping.", "closed"]);
    const stopped = { status: 503, error: "The gateway is stopping." };
    assert.deepEqual(await overHttp(served.url, ["POST", `${path}/stop`]), stopped);
    await assert.rejects(gateway.api.stopTurn(key), { status: 503 });
    client.socket.terminate();
  });

  test("is checked once, the same way for all, and each hears about the field by the name that it used", async () => {
    await using served = await openTestServer();
    const { gateway, url } = served;
    const calls = recordCalls(served);
    const client = await openSocket(url);
    const long = "x".repeat(2049);
    const wrong: readonly {
      readonly command: CommandName;
      readonly payload: object;
      readonly http: Way["http"];
      readonly program: (api: GatewayApi) => Promise<unknown>;
      /** Over WebSocket, over HTTP, for programs. */
      readonly errors: readonly [RegExp, RegExp, RegExp];
    }[] = [
      {
        command: "session_title_set",
        payload: { session_key: key, title: "  " },
        http: ["POST", `${path}/rename`, { title: "  " }],
        program: (api) => api.renameSession(key, "  "),
        errors: [/^title: A title needs/, /^title: A title needs/, /^title: A title needs/],
      },
      {
        command: "turn_cancel",
        payload: { session_key: long },
        http: ["POST", `/api/sessions/${long}/stop`],
        program: (api) => api.stopTurn(long),
        errors: [/^session_key: Too big/, /^key: Too big/, /^sessionKey: Too big/],
      },
      {
        command: "session_list",
        payload: { limit: 1001 },
        http: ["GET", "/api/sessions?limit=1001"],
        program: (api) => api.listSessions({ limit: 1001, offset: 0 }),
        errors: Array<RegExp>(3).fill(/^limit: must be a whole number from 1 to 1000\.$/) as [RegExp, RegExp, RegExp],
      },
      {
        command: "session_status",
        payload: { session_key: key, from_sequence: 0.5 },
        http: ["GET", `${path}/status?from_sequence=0.5`],
        program: (api) => api.sessionStatus(key, { includeRecovery: false, fromSequence: 0.5 }),
        errors: [
          /^from_sequence: must be a whole/,
          /^from_sequence: must be a whole/,
          /^fromSequence: must be a whole/,
        ],
      },
      {
        command: "message_send",
        payload: { session_key: key, content: "x", attachments: [{ path: "" }] },
        http: ["POST", "/api/message", { sessionKey: key, content: "x", attachments: [{ path: "" }] }],
        program: (api) => api.send({ sessionKey: key, content: "x", attachments: [{ ...file, path: "" }] }),
        errors: [/^attachments\.0\.path: /, /^attachments\.0\.path: /, /^attachments\.0\.path: /],
      },
      {
        command: "human_input_reply",
        payload: { session_key: key },
        http: ["POST", `${path}/answer`, {}],
        program: (api) => api.answerQuestion({ sessionKey: key, requestId: "" }),
        errors: [/^request_id: is missing$/, /^requestId: is missing$/, /^requestId: Too small/],
      },
      {
        // Fields have one name on each wire.
        command: "turn_cancel",
        payload: { sessionKey: key },
        http: ["POST", "/api/sessions", { key: 5, sessionKey: key }],
        program: (api) => api.request("turn_cancel", undefined),
        errors: [/^session_key: is missing$/, /^key: must be of the type string$/, /^body: is missing$/],
      },
    ];
    for (const { command, payload, http, program, errors } of wrong) {
      const overSocket = await client.command(command, payload);
      assert.equal(overSocket.code, "bad_request", command);
      assert.match(overSocket.error ?? "", errors[0]);
      const { status, error } = await overHttp(url, http);
      assert.equal(status, 400, command);
      assert.match(error, errors[1]);
      await assert.rejects(program(gateway.api), { status: 400, code: "bad_request", message: errors[2] });
    }
    assert.deepEqual(calls, []);
    client.socket.terminate();
  });
});

test("who follows a session is checked the same way over WebSocket and as an event stream", async () => {
  await using served = await openTestServer();
  const client = await openSocket(served.url);
  const wrong = [
    [
      { session_key: key, from_sequence: 1e300 },
      "from_sequence=1e300",
      /^from_sequence: must be a whole number from 0/,
    ],
    [{ session_key: key, types: ["x".repeat(101)] }, `types=${"x".repeat(101)}`, /^types\.0: Too big/],
    [{ session_key: key, types: Array(101).fill("a") }, `types=${Array(101).fill("a")}`, /^types: Too big/],
  ] as const;
  for (const [payload, query, error] of wrong) {
    const overSocket = await client.command("events_subscribe", payload);
    assert.match(overSocket.error ?? "", error);
    const stream = await overHttp(served.url, ["GET", `${path}/stream?${query}`]);
    assert.equal(stream.status, 400);
    assert.match(stream.error, error);
  }
  client.socket.terminate();
});

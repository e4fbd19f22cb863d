import assert from "node:assert/strict";
import { test } from "node:test";
import { EngineError, RequestError } from "../../../src/errors.js";
import { keepLog } from "../../support/log.js";
import { openTestServer, postJson, rawRequest } from "../../support/worlds/http/http-server.js";

// What the assertions below read is what they check.
type Json = Record<string, unknown>;
const json = async (answer: Response | Promise<Response>): Promise<Json> => (await (await answer).json()) as Json;

test("status, skills, pairing and the ledger have their routes", async () => {
  await using served = await openTestServer();
  const { url } = served;
  assert.equal((await json(fetch(`${url}/api/status`))).state, "ready");
  const skills = (await json(fetch(`${url}/api/skills`))).skills;
  assert.ok(Array.isArray(skills) && skills.length === 1);
  assert.equal((await json(fetch(`${url}/api/skills/weather`))).content, "# Weather");
  assert.equal((await fetch(`${url}/api/skills/none`)).status, 404);
  assert.deepEqual(await json(postJson(`${url}/api/pairings/approve`, { code: "ABC123" })), {
    channel: "telegram",
    senderId: "42",
    pairedAt: "2026-01-01T00:00:00.000Z",
  });
  const pairings = await json(fetch(`${url}/api/pairings`));
  assert.ok(Array.isArray(pairings.paired) && pairings.paired.length === 1);
  const revoke = (): Promise<Response> => fetch(`${url}/api/pairings/telegram/42`, { method: "DELETE" });
  assert.deepEqual([(await revoke()).status, (await revoke()).status], [200, 404]);
  assert.equal((await postJson(`${url}/api/pairings/approve`, { code: "none" })).status, 404);
  const { entries } = await json(fetch(`${url}/api/ledger`));
  assert.ok(Array.isArray(entries) && entries.length === 1);
});

test("metrics are plain text beside the API, not a page", async () => {
  await using served = await openTestServer();
  const answer = await fetch(`${served.url}/metrics`);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  assert.equal(await answer.text(), "maxclaw_turns_total 1\n");
});

test("a session can be created, listed, read, renamed, stopped and deleted, with its key encoded or raw", async () => {
  await using served = await openTestServer();
  const { url } = served;
  assert.equal((await postJson(`${url}/api/sessions`, { key: "webui:a/b c" })).status, 201);
  const again = await postJson(`${url}/api/sessions`, { key: "webui:a/b c" });
  assert.deepEqual([again.status, await again.json()], [200, { key: "webui:a/b c", reused: true }]);
  await postJson(`${url}/api/sessions`, { key: "webui:raw" });
  for (const path of ["webui%3Aa%2Fb%20c", "webui:raw", "webui%3Araw"])
    assert.equal((await fetch(`${url}/api/sessions/${path}`)).status, 200, path);
  const list = await json(fetch(`${url}/api/sessions?limit=1&offset=1`));
  assert.deepEqual(list, {
    sessions: [{ key: "webui:raw", messageCount: 0, pinned: false, archived: false, unread: 0, lastSequence: 0 }],
    total: 2,
  });
  assert.deepEqual(await json(postJson(`${url}/api/sessions/webui:raw/rename`, { title: " New " })), {
    ok: true,
    key: "webui:raw",
    title: "New",
  });
  assert.equal((await json(fetch(`${url}/api/sessions/webui:raw`))).title, "New");
  assert.deepEqual(await json(fetch(`${url}/api/sessions/webui:raw/stop`, { method: "POST" })), { stopped: false });
  assert.deepEqual(Object.keys(await json(fetch(`${url}/api/sessions/webui:raw/messages`))), ["messages"]);
  assert.deepEqual(Object.keys(await json(fetch(`${url}/api/sessions/webui:raw/usage`))), [
    "usage",
    "unpricedCalls",
    "conversation",
    "budgets",
  ]);
  const status = await json(fetch(`${url}/api/sessions/webui:raw/status?include_recovery=true`));
  assert.deepEqual(status, {
    session_key: "webui:raw",
    state: "active",
    agent_state: "idle",
    is_running: false,
    first_sequence: 0,
    last_sequence: 0,
    recovery: { can_recover: true, stream_exists: false, recovery_source: "journal", missed_events_count: 0 },
  });
  assert.equal("recovery" in (await json(fetch(`${url}/api/sessions/webui:raw/status`))), false);
  const remove = (): Promise<Response> => fetch(`${url}/api/sessions/webui:raw`, { method: "DELETE" });
  assert.deepEqual([(await remove()).status, (await remove()).status], [200, 404]);
});

test("events are paged after from_sequence with an exact has_more, and limits outside 1 to 10000 are refused", async () => {
  await using served = await openTestServer();
  const { url, gateway } = served;
  for (let i = 1; i <= 5; i++)
    gateway.tell("webui:1", "session_title_generated", { title: `${i}`, generated_by: "user" });
  const page = async (query: string): Promise<readonly unknown[]> => {
    const { events, has_more } = await json(fetch(`${url}/api/sessions/webui:1/events?${query}`));
    assert.ok(Array.isArray(events));
    return [...events.map((event) => event.seq), has_more];
  };
  assert.deepEqual(await page(""), [1, 2, 3, 4, 5, false]);
  assert.deepEqual(await page("from_sequence=1&limit=2"), [2, 3, true]);
  assert.deepEqual(await page("from_sequence=3&limit=2"), [4, 5, false]);
  assert.deepEqual(await page("from_sequence=9&limit=10000"), [false]);
  for (const query of [
    "limit=0",
    "limit=10001",
    "limit=x",
    "limit=1.5",
    "limit=-1",
    "limit=",
    "from_sequence=-1",
    "from_sequence=a",
  ]) {
    const answer = await fetch(`${url}/api/sessions/webui:1/events?${query}`);
    assert.equal(answer.status, 400, query);
    assert.match(String((await json(answer)).error), new RegExp(`^${query.split("=")[0]}:`));
  }
  assert.equal((await fetch(`${url}/api/sessions/webui:none/events`)).status, 404);
});

test("wrong paths, methods and bodies get JSON that says what is wrong", async () => {
  await using served = await openTestServer({ limits: { maxBodyBytes: 5000 } });
  const { url, gateway } = served;
  const check = async (what: Promise<Response>, status: number, code: string, text: RegExp): Promise<Response> => {
    const answer = await what;
    const body = await json(answer);
    assert.deepEqual([answer.status, body.code], [status, code]);
    assert.match(String(body.error), text);
    assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
    return answer;
  };
  const post = (body: string): Promise<Response> =>
    fetch(`${url}/api/message`, { method: "POST", headers: { "content-type": "application/json" }, body });
  await check(fetch(`${url}/api/nothing`), 404, "not_found", /\/api\/nothing/);
  await check(fetch(`${url}/api/sessions/webui:1/nothing`), 404, "not_found", /nothing/);
  await check(fetch(`${url}/api`), 404, "not_found", /api/);
  const wrong = await check(fetch(`${url}/api/sessions`, { method: "DELETE" }), 405, "method_not_allowed", /GET, POST/);
  assert.equal(wrong.headers.get("allow"), "GET, POST");
  await check(post('{"content": '), 400, "bad_request", /not valid JSON/);
  await check(post(""), 400, "bad_request", /body is needed/);
  await check(post("[]"), 400, "bad_request", /^body: /);
  await check(post('{"content":1}'), 400, "bad_request", /^content: /);
  await check(post('{"content":"a","attachments":[{}]}'), 400, "bad_request", /^attachments\.0\.path: /);
  await check(post(`{"content":"a","x":${"[".repeat(1000)}${"]".repeat(1000)}}`), 400, "bad_request", /64 levels/);
  await check(post(JSON.stringify({ content: "x".repeat(5000) })), 413, "too_large", /5000 bytes/);
  await check(fetch(`${url}/api/sessions/%E0%A4%A`), 400, "bad_request", /path/);
  await check(fetch(`${url}/api/message`, { method: "POST" }), 400, "bad_request", /body is needed/);
  await check(fetch(`${url}/ws`), 426, "upgrade_required", /WebSocket/);
  const { port } = served.server;
  const noText = { method: "POST", path: "/api/message", headers: { "content-type": "application/json" } };
  const answer = await rawRequest(port, noText, Buffer.from('{"content":"\xff"}', "latin1"));
  assert.deepEqual([answer.status, JSON.parse(answer.text).error], [400, "The body is not valid UTF-8."]);
  assert.equal(gateway.sent.length, 0);
});

test("a body that is too large is refused while it streams, and a very deep one costs nothing", async () => {
  await using served = await openTestServer();
  const { port } = served.server;
  const headers = { "content-type": "application/json", "transfer-encoding": "chunked" };
  const streamed = await rawRequest(port, { method: "POST", path: "/api/message", headers }, "x".repeat(3_000_000));
  assert.equal(streamed.status, 413);
  const deep = await postJson(`${served.url}/api/message`, { content: "x" }, {}).then(() =>
    rawRequest(
      port,
      { method: "POST", path: "/api/message", headers: { "content-type": "application/json" } },
      `{"content":"\\"[[","x":${"[".repeat(1_000_000)}`,
    ),
  );
  assert.equal(deep.status, 400);
  assert.match(deep.text, /64 levels/);
});

test("what the gateway refuses keeps its status, and only what nobody expected is logged, with an id", async () => {
  const log = keepLog();
  await using served = await openTestServer({ log });
  const { url, gateway } = served;
  const send = async (
    error: Error,
  ): Promise<{ status: number; code: unknown; retry: string | null; error: string }> => {
    gateway.refuseSend = error;
    const answer = await postJson(`${url}/api/message`, { content: "hi" });
    const body = await json(answer);
    return {
      status: answer.status,
      code: body.code,
      retry: answer.headers.get("retry-after"),
      error: String(body.error),
    };
  };
  const busy = await send(new EngineError("lane full", { kind: "buffer_full", retryAfterMs: 2500 }));
  assert.deepEqual([busy.status, busy.code, busy.retry], [429, "BUFFER_FULL", "3"]);
  const limited = await send(new RequestError("slow down", { status: 429, code: "BUFFER_FULL", retryAfterMs: 10_000 }));
  assert.deepEqual([limited.status, limited.retry, limited.error], [429, "10", "slow down"]);
  const conflict = await send(new RequestError("The session is completed", { status: 409, code: "conflict" }));
  assert.deepEqual([conflict.status, conflict.code, conflict.retry], [409, "conflict", null]);
  const closed = await send(new EngineError("closed", { kind: "closed" }));
  assert.deepEqual([closed.status, closed.code], [503, "closed"]);
  assert.equal(log.lines.length, 0);
  const disk = await send(new EngineError("ENOSPC /secret/path", { kind: "persistence" }));
  assert.deepEqual([disk.status, disk.code, disk.retry], [503, "PERSISTENCE_FAILED", "5"]);
  // Reading fails: nobody claims that nothing was stored.
  const unread = await send(new EngineError("EIO /secret/path", { kind: "unreadable" }));
  assert.deepEqual([unread.status, unread.code, unread.retry], [503, "READ_FAILED", "5"]);
  const damaged = await send(new EngineError("line 3 of /secret/path", { kind: "corrupt" }));
  assert.deepEqual([damaged.status, damaged.code], [500, "STORED_DATA_DAMAGED"]);
  assert.doesNotMatch(unread.error + damaged.error, /secret|Nothing was stored/);
  assert.match(disk.error, /Nothing was stored/);
  const bug = await send(new TypeError("cannot read sk-123 of undefined"));
  assert.deepEqual([bug.status, bug.code], [500, "UNKNOWN"]);
  assert.doesNotMatch(disk.error + bug.error, /secret|sk-123/);
  const id = /err_[0-9a-f]+/.exec(bug.error)?.[0];
  assert.equal(log.lines.at(-1)?.fields.id, id);
});

test("the probes say that the process lives and whether it takes messages", async () => {
  await using served = await openTestServer();
  const probe = async (path: string): Promise<readonly unknown[]> => {
    const answer = await fetch(`${served.url}${path}`);
    return [answer.status, await answer.json()];
  };
  assert.deepEqual(await probe("/ready"), [200, { ready: true }]);
  served.gateway.isReady = false;
  assert.deepEqual(await probe("/ready"), [503, { ready: false, reason: "The gateway is draining." }]);
  assert.deepEqual(await probe("/health"), [200, { status: "ok" }]);
  assert.equal((await fetch(`${served.url}/health`, { method: "HEAD" })).status, 200);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../../../src/client/node.js";
import type { GatewayEvent } from "../../../../src/events/event.js";
import { until } from "../../../support/engine/engine-kit.js";
import { startWithModel } from "../../../support/worlds/gateway.js";

interface Entry {
  readonly key: string;
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly unread: number;
  readonly lastSequence: number;
}

async function list(url: string, query = ""): Promise<readonly Entry[]> {
  const { sessions } = (await (await fetch(`${url}/api/sessions?${query}`)).json()) as { sessions: Entry[] };
  return sessions;
}

const keys = (entries: readonly Entry[]): readonly string[] => entries.map(({ key }) => key);

async function put(url: string, body: object, method = "PUT"): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(url, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

test("conversations are pinned and archived, the list is asked for either, and it lasts over a restart", async () => {
  await using t = await startWithModel({ text: "ok" });
  for (const key of ["webui:a", "webui:b", "webui:c"]) await t.gateway.ask("hi", { key });
  const set = await put(`${t.url}/api/sessions/webui:a/marks`, { archived: true });
  assert.deepEqual(set, { status: 200, body: { key: "webui:a", pinned: false, archived: true } });
  await put(`${t.url}/api/sessions/webui:b/marks`, { pinned: true });
  assert.deepEqual(keys(await list(t.url)), ["webui:c", "webui:b", "webui:a"], "all, as before");
  assert.deepEqual(keys(await list(t.url, "archived=false")), ["webui:c", "webui:b"]);
  assert.deepEqual(keys(await list(t.url, "archived=true")), ["webui:a"]);
  assert.deepEqual(keys(await list(t.url, "archived=all&pinned=true")), ["webui:b"]);
  assert.deepEqual(keys(await list(t.url, "archived=false&pinned=false")), ["webui:c"]);
  assert.equal((await fetch(`${t.url}/api/sessions?archived=maybe`)).status, 400);
  assert.equal((await put(`${t.url}/api/sessions/webui:a/marks`, {})).status, 400);
  assert.equal((await put(`${t.url}/api/sessions/webui:a/marks`, { pinned: "yes" })).status, 400);
  assert.equal((await put(`${t.url}/api/sessions/webui:none/marks`, { pinned: true })).status, 404);
  const before = (await t.gateway.events("webui:a")).length;
  await put(`${t.url}/api/sessions/webui:a/marks`, { archived: false, pinned: true });
  assert.equal((await t.gateway.events("webui:a")).length, before, "the log has nothing of it");
  const again = await t.gateway.restart();
  const { sessions } = await again.gateway.api.listSessions({ limit: 10, offset: 0 });
  assert.deepEqual(
    sessions.map(({ key, pinned, archived }) => [key, pinned, archived]),
    [
      ["webui:c", false, false],
      ["webui:b", true, false],
      ["webui:a", true, false],
    ],
  );
  await again.gateway.api.deleteSession("webui:b");
  await again.ask("a new life", { key: "webui:b" });
  const [first] = (await again.gateway.api.listSessions({ limit: 1, offset: 0 })).sessions;
  assert.deepEqual([first?.key, first?.pinned], ["webui:b", false], "marks go with their conversation");
  await again[Symbol.asyncDispose]();
});

test("what was said since the owner read or wrote there is unread; two tabs agree", async () => {
  await using t = await startWithModel({ text: "ok" });
  const [one, other] = [createClient({ url: t.url }), createClient({ url: t.url })];
  const seen: GatewayEvent[] = [];
  try {
    other.subscribe("*", (event) => void seen.push(event));
    await other.listSessions();
    const unread = async (): Promise<number | undefined> => (await one.listSessions()).sessions[0]?.unread;
    await t.gateway.ask("first", { key: "webui:a" });
    assert.equal(await unread(), 1, "the answer");
    await t.gateway.ask("second", { key: "webui:a" });
    assert.equal(await unread(), 1, "who writes has seen what was there");
    const [entry] = await list(t.url);
    const middle = entry?.lastSequence ?? 0;
    assert.deepEqual(await one.markRead("webui:a", middle), { pinned: false, archived: false, readSeq: middle });
    assert.equal(await unread(), 0);
    const told = (): readonly GatewayEvent[] => seen.filter(({ type }) => type === "session_marks_changed");
    await until("the other tab hears of it", () => told().length === 1);
    assert.deepEqual(told()[0]?.payload, { pinned: false, archived: false, read_seq: middle });
    assert.equal(told()[0]?.seq, null);
    await t.gateway.ask("third", { key: "webui:a" });
    assert.equal(await unread(), 1);
    await one.markRead("webui:a", 1);
    assert.equal(await unread(), 1, "it never goes back");
    const end = await put(`${t.url}/api/sessions/webui:a/read`, { seq: 1_000_000 }, "POST");
    const last = (await list(t.url))[0]?.lastSequence;
    assert.deepEqual(end.body, { key: "webui:a", pinned: false, archived: false, readSeq: last }, "not beyond its end");
    assert.equal(await unread(), 0);
    await t.gateway.ask("/undo", { key: "webui:a" });
    assert.equal(await unread(), 1, "the reply to the undo");
    assert.deepEqual(await one.setMarks("webui:a", { pinned: true }), { pinned: true, archived: false, readSeq: last });
    await until("the other tab hears of the pin", () =>
      told().some(({ payload }) => "pinned" in payload && payload.pinned),
    );
  } finally {
    one.close();
    other.close();
  }
});

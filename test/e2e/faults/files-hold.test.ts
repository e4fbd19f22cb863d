import assert from "node:assert/strict";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startWithModel, type TestGateway } from "../../support/worlds/gateway.js";

async function start() {
  const scripted = await startWithModel({ text: "ok" });
  return { ...scripted, url: `${scripted.url}/api/files/hold` };
}

/** Asks for the files to be held, as the commands do. */
async function hold(url: string) {
  const leave = new AbortController();
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: "{}",
    signal: leave.signal,
  });
  assert.equal(response.status, 200);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader !== undefined);
  const { value = "" } = await reader.read();
  const data = /^event: held\ndata: (.+)\n\n$/.exec(value)?.[1];
  const segment = JSON.parse(data ?? "null") as { readonly path: string; readonly bytes: number };
  return { segment, reader, leave: () => leave.abort() };
}

function logOf({ workspace }: TestGateway): string {
  return join(workspace, ".sessions", "webui_test.events.jsonl");
}

test("files stay still while somebody holds them, messages are answered meanwhile, and leaving lets go", async () => {
  await using t = await start();
  await t.gateway.ask("before");
  const held = await hold(t.url);
  const { size } = statSync(logOf(t.gateway));
  assert.ok(statSync(held.segment.path).size >= held.segment.bytes);
  for (let n = 0; n < 3; n += 1) assert.equal((await t.gateway.ask(`meanwhile ${n}`)).end, "complete");
  const second = hold(t.url);
  assert.equal(statSync(logOf(t.gateway)).size, size);
  held.leave();
  // Holding brings the logs up to date: the second holder finds what was said while the first one had them.
  const next = await second;
  assert.ok(statSync(logOf(t.gateway)).size > size);
  next.leave();
});

test("a gateway that stops takes its files back and says so", async () => {
  await using t = await start();
  await t.gateway.ask("hello");
  const held = await hold(t.url);
  await t.gateway.gateway.drain(0);
  await t.gateway.gateway[Symbol.asyncDispose]();
  let rest = "";
  for (;;) {
    const { done, value = "" } = await held.reader.read().catch(() => ({ done: true, value: "" }));
    rest += value;
    if (done) break;
  }
  assert.ok(existsSync(logOf(t.gateway)));
  assert.ok(rest === "" || rest.includes("event: lost"), rest);
});

test("no page from elsewhere can hold the files", async () => {
  await using t = await start();
  const form = await fetch(t.url, { method: "POST", body: new URLSearchParams({ a: "b" }) });
  assert.equal(form.status, 415);
  const foreign = await fetch(t.url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: "https://elsewhere.example" },
    body: "{}",
  });
  assert.equal(foreign.status, 403);
});

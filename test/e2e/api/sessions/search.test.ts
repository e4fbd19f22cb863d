import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createClient } from "../../../../src/client/node.js";
import type { SearchPage } from "../../../../src/sessions/search/search.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { tracesOf } from "../../../support/traces.js";
import { runMaxclaw, startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, startWithModel, tempHome } from "../../../support/worlds/gateway.js";

async function find(url: string, query: string, token?: string): Promise<SearchPage> {
  const headers = new Headers(token === undefined ? [] : [["authorization", `Bearer ${token}`]]);
  const answer = await fetch(`${url}/api/search?${query}`, { headers });
  assert.equal(answer.status, 200);
  return (await answer.json()) as SearchPage;
}

const snippetsOf = ({ hits }: SearchPage): readonly string[] => hits.map(({ snippet }) => snippet);

test("what was said in any conversation is found over HTTP and the socket, until it is undone or deleted", async () => {
  await using t = await startWithModel({ text: "An aardvark? Yes." });
  await t.gateway.ask("I saw an Aardvark", { key: "webui:1" });
  await t.gateway.ask("no AARDVARK here", { key: "cli:2" });
  await t.api.renameSession("cli:2", "The aardvark chat");
  assert.deepEqual(snippetsOf(await find(t.url, "q=aardvark&channel=webui")), [
    "An aardvark? Yes.",
    "I saw an Aardvark",
  ]);
  const page = await find(t.url, "q=aardvark&limit=2");
  assert.deepEqual(
    page.hits.map(({ who, title }) => [who, title]),
    [
      ["title", "The aardvark chat"],
      ["assistant", "The aardvark chat"],
    ],
  );
  const client = createClient({ url: t.url });
  try {
    const rest = await client.searchSessions({ query: "aardvark", before: page.next });
    assert.deepEqual(
      rest.hits.map(({ who, sessionKey }) => [who, sessionKey]),
      [
        ["user", "cli:2"],
        ["assistant", "webui:1"],
        ["user", "webui:1"],
      ],
    );
    assert.deepEqual([rest.next, rest.isComplete], [undefined, true]);
  } finally {
    client.close();
  }
  await t.gateway.ask("/undo", { key: "webui:1" });
  assert.deepEqual(snippetsOf(await find(t.url, "q=aardvark&session=webui:1")), []);
  await t.api.deleteSession("cli:2");
  assert.deepEqual(snippetsOf(await find(t.url, "q=aardvark")), []);
  // The log has what was undone; the search has it no more.
  assert.deepEqual(tracesOf("aardvark", join(t.gateway.home, "search")), []);
  for (const query of ["", "q=", "q=%22", "q=a&limit=0", "q=a&limit=101", "q=a&before=x"])
    assert.equal((await fetch(`${t.url}/api/search?${query}`)).status, 400, query);
});

test("only who has the token searches", async () => {
  await using t = await startWithModel({ text: "ok" }, () => ({ gateway: { token: "0123456789abcdef0123" } }));
  await t.gateway.ask("a bandicoot", { key: "webui:1" });
  assert.equal((await fetch(`${t.url}/api/search?q=bandicoot`)).status, 401);
  assert.deepEqual(snippetsOf(await find(t.url, "q=bandicoot", "0123456789abcdef0123")), ["a bandicoot"]);
});

test("a gateway that is killed at any moment has everything once in its next search; the terminal searches also without one", async () => {
  await using script = await startFakeOpenAI({ answer: { text: "Yes, a dugong." } });
  const home = await tempHome();
  writeFileSync(join(home, "config.json"), JSON.stringify(openAIConfig(script.apiBase)));
  for (let n = 1; n <= 2; n += 1) {
    await using daemon = await startDaemon({ home });
    const client = createClient({ url: daemon.url });
    const sessionKey = `webui:${n}`;
    await client.openSession({ sessionKey });
    const answered = new Promise<void>((resolve) => {
      client.subscribe(sessionKey, (event) => event.type === "turn_execution_complete" && resolve());
    });
    await client.sendMessage({ sessionKey, content: `Is this dugong ${n}?` });
    await answered;
    assert.equal((await find(daemon.url, "q=dugong")).hits.length, 2 * n);
    client.close();
    await daemon.end("SIGKILL");
  }
  const run = await runMaxclaw(["search", "dugong", "--json"], home);
  assert.equal(run.code, 0, run.stderr);
  assert.equal((JSON.parse(run.stdout) as SearchPage).hits.length, 4);
  const words = await runMaxclaw(["search", "DUGONG", "this", "--limit", "1"], home);
  assert.match(words.stdout, /user · .*webui:2.* · event \d+\n {2}Is this dugong 2\?/);
  assert.match(words.stderr, /There is more: --before /);
  const none = await runMaxclaw(["search", "manatee"], home);
  assert.deepEqual([none.code, none.stdout], [0, "Nothing was found.\n"]);
});

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { createClient } from "../../../../src/client/node.js";
import { gate, until } from "../../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { withoutMailServer } from "../../../support/fakes/mail/mail-server.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { tracesOf } from "../../../support/traces.js";
import { callThenDone } from "../../../support/worlds/channels/chat-world.js";
import { createEmailHarnesses } from "../../../support/worlds/channels/email-harness.js";
import { openHarnessWorld } from "../../../support/worlds/channels/harness-world.js";
import { writeMail } from "../../../support/worlds/channels/mail-kit.js";
import { runMaxclaw, startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, startGateway, type TestGateway, tempHome } from "../../../support/worlds/gateway.js";
import { postJson } from "../../../support/worlds/http/http-server.js";
import { cast, startOne } from "../../../support/worlds/tools/sub-agents.js";

const token = "4242:test";

/** In each thing that the deleted conversation said, sent, made or was called. */
const word = "ORANGUTAN";

/** Also in the small letters of the search. */
const traces = (folder: string): readonly string[] => [
  ...tracesOf(word, folder),
  ...tracesOf(word.toLowerCase(), folder),
];

/** The search has the word in its file from here on. */
async function fillSearch({ gateway: { api }, home }: Pick<TestGateway, "gateway" | "home">): Promise<void> {
  assert.notEqual((await api.searchSessions({ text: word, limit: 5 })).hits.length, 0);
  assert.notDeepEqual(tracesOf(word.toLowerCase(), join(home, "search")), []);
}

/** A model that plans, writes a file, starts a sub-agent, and says the word each time. */
function model() {
  return startFakeOpenAI({
    answer: cast({
      parent: ({ userText }, done) =>
        !userText.includes(word)
          ? { text: "Nothing." }
          : done === 0
            ? {
                toolCalls: [
                  { id: "c1", name: "plan", input: { action: "create", goal: word, steps: [`Find the ${word}`] } },
                  { id: "c2", name: "write_file", input: { path: `${word}.txt`, content: word } },
                  ...startOne(`Look for the ${word}`).toolCalls,
                ],
              }
            : { text: `I saw the ${word}` },
      child: () => ({ text: `There is the ${word}` }),
    }),
  });
}

/** Two messages, the first with a file. Resolves when both are answered. */
async function talk(url: string, key: string): Promise<void> {
  const client = createClient({ url });
  try {
    const file = await client.upload(Buffer.from(`text of the ${word}`), `${word}.md`);
    for (const message of [
      { content: `Where is the ${word}?`, attachments: [file] },
      { content: `Again, the ${word}` },
    ])
      assert.ok((await postJson(new URL("/api/message", url).href, { sessionKey: key, ...message })).ok);
  } finally {
    client.close();
  }
}

async function assertGone(home: string): Promise<void> {
  // The journal and the list are written again in the second after.
  await until("nothing is left", () => traces(home).length === 0).catch(() => undefined);
  assert.deepEqual(traces(home), []);
}

const deletions = {
  "the API": async (gateway: TestGateway, key: string) => gateway.gateway.api.deleteSession(key),
  HTTP: async (gateway: TestGateway, key: string) => {
    const answer = await fetch(`http://${gateway.gateway.address}/api/sessions/${key}`, { method: "DELETE" });
    assert.equal(answer.status, 200);
  },
  "the page's socket": async (gateway: TestGateway, key: string) => {
    const client = createClient({ url: gateway.gateway.pageUrl });
    await client.deleteSession(key).finally(() => client.close());
  },
};

for (const [way, remove] of Object.entries(deletions)) {
  test(`a conversation that is deleted over ${way} leaves no trace of what it said anywhere below the home`, async () => {
    await using script = await model();
    await using gateway = await startGateway({ config: openAIConfig(script.apiBase) });
    await gateway.ask("I stay", { key: "webui:other" });
    await talk(gateway.gateway.pageUrl, "webui:gone");
    await gateway.gateway.api.listSessions({ limit: 10, offset: 0 });
    await fillSearch(gateway);
    assert.notDeepEqual(traces(gateway.home), []);
    await remove(gateway, "webui:gone");
    await assertGone(gateway.home);
    assert.equal((await gateway.ask("Are you there?", { key: "webui:other" })).response, "Nothing.");
  });
}

test("one that is deleted while no gateway is running leaves none, nor does a backup that is made afterwards", async () => {
  await using script = await model();
  const home = await tempHome();
  writeFileSync(join(home, "config.json"), JSON.stringify(openAIConfig(script.apiBase)));
  const daemon = await startDaemon({ home });
  await talk(daemon.url, "webui:gone");
  await talk(daemon.url, "webui:also-gone");
  assert.match((await runMaxclaw(["search", word], home)).stdout, /webui:gone/);
  const running = await runMaxclaw(["sessions", "delete", "webui:gone"], home);
  assert.equal(running.code, 0, running.stderr);
  assert.equal(await daemon.end("SIGTERM"), 0);
  const removed = await runMaxclaw(["sessions", "delete", "webui:also-gone"], home);
  assert.equal(removed.code, 0, removed.stderr);
  assert.deepEqual(traces(home), []);
  const file = join(await tempHome(), "backup.tar.gz");
  assert.equal((await runMaxclaw(["backup", file], home)).code, 0);
  assert.ok(!gunzipSync(readFileSync(file)).includes(word));
});

test("what was always allowed in a conversation goes with it: nothing tells about it, and the next life asks again", async () => {
  const home = await tempHome();
  const outside = join(home, "workspace", `${word}.txt`);
  await using script = await startFakeOpenAI({
    answer: callThenDone("write_file", { path: outside, content: "hello" }),
  });
  await using gateway = await startGateway({
    config: openAIConfig(script.apiBase, {
      agents: { defaults: { model: "openai/test-model", executionMode: "ask" } },
    }),
    home,
  });
  const { api } = gateway.gateway;
  const asked = async (): Promise<void> => {
    await until("it is asked", () => api.listQuestions().length === 1, 10_000);
  };
  const answer = async (text: string): Promise<void> => {
    await asked();
    for (const { sessionKey, requestId } of api.listQuestions())
      await api.answerQuestion({ sessionKey, requestId, answer: text });
  };
  for (const key of ["webui:gone", "webui:stays"]) {
    const done = gateway.ask("write it", { key });
    await answer("allow_always");
    await done;
  }
  await api.revokeGrant(api.policy().grants.find(({ chat }) => chat === "webui:stays")?.id ?? "");
  await api.deleteSession("webui:stays");
  assert.deepEqual(
    api.policy().grants.map(({ chat }) => chat),
    ["webui:gone"],
  );
  await api.deleteSession("webui:gone");
  assert.deepEqual(api.policy().grants, []);
  // The file itself is the workspace's.
  rmSync(outside);
  await assertGone(home);
  const again = gateway.ask("write it", { key: "webui:gone" });
  await answer("deny");
  await again;
});

test("a chat of Telegram that is deleted after /new and in the middle of an answer leaves none", async () => {
  const held = gate();
  await using script = await startFakeOpenAI({
    answer: async ({ userText }) => {
      if (userText.includes("again")) await held.opened;
      return { text: `I saw the ${word}` };
    },
  });
  const telegram = await startFakeTelegram({ token });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using gateway = await startGateway({ config: openAIConfig(script.apiBase, { channels }) });
  const say = (text: string) => telegram.pushText({ chatId: 7, userId: 7, text });
  say(`Where is the ${word}?`);
  await until("it is answered", () => telegram.sent.length === 1);
  say("/new");
  await until("there is a new one", () => telegram.sent.length === 2);
  say(`Where is the ${word} again?`);
  await until("the model works on it", () => script.requests.some(({ userText }) => userText.includes("again")));
  await fillSearch(gateway);
  await gateway.gateway.api.deleteSession("telegram:7");
  held.open();
  await assertGone(gateway.home);
  await telegram.stop();
});

test("a conversation by mail that is deleted leaves none, its subject and addresses included", {
  skip: withoutMailServer(),
}, async () => {
  await using harnesses = createEmailHarnesses();
  const harness = await harnesses.open();
  const [{ chatId: ann }] = harness.people;
  const config = { owners: [`email:${ann}`] };
  await using world = await openHarnessWorld(async () => harness, { answer: { text: `I saw the ${word}` }, config });
  const { home, gateway } = world.gateway;
  const mail = {
    from: ann,
    to: harness.bot,
    messageId: "1@maxclaw.test",
    subject: `The ${word}`,
    text: `Find ${word}`,
  };
  await harness.writeRaw(writeMail(mail));
  await world.seen(ann, `I saw the ${word}`);
  const { sessions } = await gateway.api.listSessions({ channel: "email", limit: 5, offset: 0 });
  assert.equal(sessions.length, 1);
  await gateway.api.deleteSession(sessions[0]?.key ?? "");
  await assertGone(home);
});

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { createClient } from "../../../../src/client/node.js";
import { openEmbeddedEngine } from "../../../../src/engine/embedded/open.js";
import type { Engine } from "../../../../src/engine/engine.js";
import { defineTool } from "../../../../src/tools/tool.js";
import { gate, until } from "../../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { tracesOf } from "../../../support/traces.js";
import { callThenDone } from "../../../support/worlds/channels/chat-world.js";
import { startDaemon } from "../../../support/worlds/daemon.js";
import {
  openAIConfig,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  tempHome,
} from "../../../support/worlds/gateway.js";
import { cast, startOne } from "../../../support/worlds/tools/sub-agents.js";

// What is still on its way for a conversation when it is deleted, and arrives when the deletion is over.

const token = "4242:test";

/** In each thing that the deleted conversation said. */
const word = "ORANGUTAN";

/** A deletion waits so long for what does not let go, and no longer. */
const bounded = 8000;

async function assertGone(home: string): Promise<void> {
  // The journal and the list are written again in the second after.
  await until("nothing is left", () => tracesOf(word, home).length === 0).catch(() => undefined);
  assert.deepEqual(tracesOf(word, home), []);
}

async function deleteInTime({ gateway }: TestGateway, key: string): Promise<void> {
  const begun = Date.now();
  await gateway.api.deleteSession(key);
  assert.ok(Date.now() - begun < bounded, `the deletion took ${Date.now() - begun} ms`);
}

async function keysOf({ gateway }: TestGateway): Promise<readonly string[]> {
  return (await gateway.api.listSessions({ limit: 100, offset: 0 })).sessions.map(({ key }) => key);
}

/** An engine whose answer to some calls is held back: what they wrote is written, and their caller learns it late. */
function holding(
  what: { readonly accept?: (id: string) => boolean; readonly append?: (types: readonly string[]) => boolean },
  held: { readonly opened: Promise<void> },
): {
  readonly openEngine: NonNullable<TestGatewayOptions["openEngine"]>;
  readonly seen: { count: number };
  readonly engines: readonly Engine[];
} {
  const seen = { count: 0 };
  const engines: Engine[] = [];
  const hold = async <T>(isHeld: boolean, done: Promise<T>): Promise<T> => {
    const result = await done;
    if (!isHeld) return result;
    seen.count += 1;
    await held.opened;
    return result;
  };
  return {
    seen,
    engines,
    async openEngine(options): Promise<Engine> {
      const engine = await openEmbeddedEngine(options);
      engines.push(engine);
      const accept = engine.accept.bind(engine);
      const append = engine.append.bind(engine);
      engine.accept = (work, more) => hold(what.accept?.(work.id) ?? false, accept(work, more));
      engine.append = (key, events, more) =>
        hold(what.append?.(events.map(({ type }) => type)) ?? false, append(key, events, more));
      return engine;
    },
  };
}

function family() {
  return startFakeOpenAI({
    answer: cast({
      parent: ({ userText }, done) =>
        !userText.includes(word)
          ? { text: "Nothing." }
          : done === 0
            ? startOne(`Look for the ${word}`)
            : { text: word },
      child: () => ({ text: `There is the ${word}` }),
      told: () => ({ text: `I was told about the ${word}` }),
    }),
  });
}

const steps = {
  "its begin": { append: (types: readonly string[]) => types.includes("subagent_state_changed") },
  "its report": { accept: (id: string) => id.startsWith("msg_") && id !== "msg_asked" },
};

for (const [name, what] of Object.entries(steps)) {
  for (const opens of ["while", "after"] as const) {
    test(`a sub-agent at ${name}, which goes on ${opens} its chat is deleted, brings nothing back`, async () => {
      await using script = await family();
      const held = gate();
      const { openEngine, seen } = holding(what, held);
      await using gateway = await startGateway({ config: openAIConfig(script.apiBase), openEngine });
      await gateway.post(`Where is the ${word}?`, { key: "webui:gone", messageId: "msg_asked" });
      await until("a step is held", () => seen.count > 0);
      const deleted = deleteInTime(gateway, "webui:gone");
      if (opens === "after") await deleted;
      held.open();
      await deleted;
      await assertGone(gateway.home);
      await gateway.gateway.drain(0);
      await assertGone(gateway.home);
      assert.deepEqual(await keysOf(gateway), []);
    });
  }
}

test("a title that the model gives late begins no new life of the conversation", async () => {
  const held = gate();
  await using script = await startFakeOpenAI({
    answer: async ({ body }) => {
      if (!JSON.stringify(body).includes("Name this conversation")) return { text: `I saw the ${word}` };
      await held.opened;
      return { text: `The ${word}` };
    },
  });
  const config = openAIConfig(script.apiBase, { memory: { titles: "model" } });
  await using gateway = await startGateway({ config });
  await gateway.ask(`Where is the ${word}?`, { key: "webui:gone" });
  await until("a title is asked for", () => script.requests.length === 2);
  await deleteInTime(gateway, "webui:gone");
  held.open();
  await gateway.ask("Are you there?", { key: "webui:other" });
  await gateway.gateway.drain(1000);
  assert.ok(!(await keysOf(gateway)).includes("webui:gone"));
});

test("the run of a job, which is accepted while its chat is deleted, brings neither job nor chat back", async () => {
  await using script = await startFakeOpenAI({ answer: { text: `I saw the ${word}` } });
  const held = gate();
  const { openEngine, seen, engines } = holding({ accept: (id) => id.startsWith("cron:") }, held);
  await using gateway = await startGateway({ config: openAIConfig(script.apiBase), openEngine });
  const { api } = gateway.gateway;
  await gateway.ask(`Where is the ${word}?`, { key: "webui:gone" });
  const job = await api.cron.add({ prompt: `Find the ${word}`, every: "1h", sessionKey: "webui:gone" });
  const run = api.cron.run(job.id).catch(() => undefined);
  await until("its run is held", () => seen.count === 1);
  await deleteInTime(gateway, "webui:gone");
  held.open();
  await run;
  await assertGone(gateway.home);
  await gateway.gateway.drain(0);
  for (const kind of ["cron", "cron_runs"]) assert.deepEqual((await engines[0]?.records.open(kind))?.list(), []);
  assert.deepEqual(await keysOf(gateway), []);
});

test("what a job said in a conversation of its own goes with that conversation, and the job stays", async () => {
  await using script = await startFakeOpenAI({ answer: { text: `I saw the ${word}` } });
  await using gateway = await startGateway({ config: openAIConfig(script.apiBase) });
  const { api } = gateway.gateway;
  const job = await api.cron.add({ prompt: "Look", every: "1h", sessionKey: "webui:stays", session: "alone" });
  await api.cron.run(job.id);
  const outputs = async () => (await api.cron.history({ jobId: job.id, limit: 5 })).map(({ output }) => output);
  await until("its answer is kept", async () => (await outputs())[0]?.includes(word) === true);
  await deleteInTime(gateway, `cron:${job.id}`);
  await assertGone(gateway.home);
  assert.deepEqual(await outputs(), [""]);
  assert.equal((await api.cron.list()).length, 1);
});

test("a growing answer, whose first words the platform takes late, is noted nowhere once its chat is deleted", async () => {
  await using script = await startFakeOpenAI({
    answer: { text: ["I saw ", "the ", `${word} `, "there"], chunkDelayMs: 1000 },
  });
  await using telegram = await startFakeTelegram({ token });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const config = { ...openAIConfig(script.apiBase, { channels }), reactors: { live: true } };
  const { openEngine, engines } = holding({}, gate());
  await using gateway = await startGateway({ config, openEngine, isRuled: false });
  const previews = async () => (await engines[0]?.records.open("preview"))?.list() ?? [];
  telegram.answerNextLate({ method: "sendMessage", ms: 3500 });
  telegram.pushText({ chatId: 7, userId: 7, text: `Where is the ${word}?` });
  await until("its first words are on their way", () => telegram.sent.length === 1);
  await deleteInTime(gateway, "telegram:7");
  await gateway.gateway.drain(5000);
  assert.deepEqual(await previews(), []);
  await assertGone(gateway.home);
});

test("a tool that does not listen holds up no deletion, and what it does later reaches nothing", async () => {
  const held = gate();
  const entered = gate();
  const done = gate();
  const reached: string[] = [];
  const stuck = defineTool({
    name: "stuck",
    description: "Waits.",
    input: z.object({}),
    effect: "read",
    risk: "none",
    origin: "builtin",
    async run(_input, { agent, chat }) {
      entered.open();
      await held.opened;
      const outcomes = await Promise.allSettled([
        agent.tasks.start({ task: word }),
        chat.send({ content: word, attachments: [] }),
      ]);
      reached.push(...outcomes.map(({ status }) => status));
      done.open();
      return { text: word, isError: false, summary: word };
    },
  });
  await using script = await startFakeOpenAI({ answer: callThenDone("stuck", {}) });
  await using gateway = await startGateway({ config: openAIConfig(script.apiBase), tools: [stuck], isRuled: false });
  await gateway.post(`Where is the ${word}?`, { key: "webui:gone" });
  await entered.opened;
  await deleteInTime(gateway, "webui:gone");
  held.open();
  await done.opened;
  assert.deepEqual(reached, ["rejected", "rejected"]);
  await gateway.gateway.drain(0);
  await assertGone(gateway.home);
  assert.deepEqual(await keysOf(gateway), []);
});

/** Of all segments of the journal. */
function journalOf(home: string): string {
  const folder = join(home, "journal");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}

test("a deletion that a kill cuts off is done at the next start", async () => {
  await using script = await family();
  const telegram = await startFakeTelegram({ token });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const home = await tempHome();
  writeFileSync(join(home, "config.json"), JSON.stringify(openAIConfig(script.apiBase, { channels })));
  {
    await using daemon = await startDaemon({ home });
    telegram.hangNext({ method: "sendMessage" });
    telegram.pushText({ chatId: 7, userId: 7, text: `Where is the ${word}?` });
    await until("its answer is on its way", () => journalOf(home).includes('"sending"'), 10_000);
    const client = createClient({ url: daemon.url });
    void client.deleteSession("telegram:7").catch(() => undefined);
    await until("it is noted", () => journalOf(home).includes('"kind":"deletion"'), 10_000);
    await daemon.end("SIGKILL");
    client.close();
  }
  assert.notDeepEqual(tracesOf(word, home), []);
  await telegram.stop();
  await using again = await startDaemon({ home });
  await assertGone(home);
  assert.equal(await again.end("SIGTERM"), 0);
  assert.ok(!journalOf(home).includes('"kind":"deletion"'));
});

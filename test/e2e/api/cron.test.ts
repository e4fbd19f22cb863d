import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { callThenDone } from "../../support/worlds/channels/chat-world.js";
import { assertSound, openAIConfig, startGateway, tempHome } from "../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";

const token = "4242:cron-secret";

/** Schedules what it is asked to, and says what a run told it. */
function answer(request: RecordedRequest): ScriptedAnswer {
  const text = request.userText.replace(/^[\s\S]*<\/now>\s*/, "");
  const scheduled = /^\[Scheduled: .*\] (.*)$/.exec(text);
  const last = request.bodyText.lastIndexOf('"role":"tool"') > request.bodyText.lastIndexOf('"role":"user"');
  const asked = /^cron (\{.*\})$/.exec(scheduled?.[1] ?? text);
  if (scheduled !== null && (asked === null || last)) return { text: `done: ${scheduled[1]}` };
  if (asked === null || last) return { text: "ok" };
  return { toolCalls: [{ id: `call_${request.index}`, name: "cron", input: JSON.parse(asked[1] ?? "") }] };
}

async function start(config: Record<string, unknown> = {}, home?: string) {
  const telegram = await startFakeTelegram({ token });
  const model = await startFakeOpenAI({ answer });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const gateway = await startGateway({
    config: openAIConfig(model.apiBase, { channels, ...config }),
    ...(home === undefined ? {} : { home }),
  });
  return {
    telegram,
    model,
    gateway,
    say: (text: string) => void telegram.pushText({ chatId: 7, userId: 7, text }),
    texts: () => telegram.sent.map(({ text }) => text),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      await telegram.stop();
    },
  };
}

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

test("a reminder comes at its time into its chat, once, and its run is kept", async () => {
  await using t = await start();
  t.say(`cron ${JSON.stringify({ action: "add", message: "drink tea", at: inMs(10_000) })}`);
  await until("it is said", () => t.texts().includes("done: drink tea"), 40_000);
  const completed = await t.gateway.waitForEvent(
    (event) => event.type === "schedule_run_changed" && event.payload.status === "completed",
    "telegram:7",
  );
  assert.ok(completed.type === "schedule_run_changed" && completed.payload.session_key === "telegram:7");
  const events = await t.gateway.events("telegram:7");
  assertSound(events);
  const [run] = await t.gateway.gateway.api.cron.history({ limit: 5 });
  assert.deepEqual([run?.status, run?.output], ["success", "done: drink tea"], "its answer is its result");
  t.say(`cron ${JSON.stringify({ action: "list" })}`);
  await until("the list is read", () =>
    /Nothing is scheduled in this chat/.test(t.model.requests.at(-1)?.bodyText ?? ""),
  );
});

test("a time that comes while the gateway is down is made up for once at the next start", async () => {
  await using t = await start();
  const due = Date.now() + 6000;
  t.say(
    `cron ${JSON.stringify({ action: "add", message: "wake up", at: new Date(due).toISOString(), session: "alone" })}`,
  );
  await until("it is scheduled", () => t.texts().length === 1);
  await t.gateway.gateway.drain(1000);
  await t.gateway.gateway[Symbol.asyncDispose]();
  await until("its time has passed", () => Date.now() > due + 100, 10_000);
  await using again = await startGateway({ home: t.gateway.home });
  await until("it is said", () => t.texts().includes("done: wake up"));
  await using third = await again.restart();
  await third.ask("hello");
  assert.equal(t.texts().filter((text) => text === "done: wake up").length, 1);
  const [job] = (await third.gateway.api.listSessions({ channel: "cron", limit: 5, offset: 0 })).sessions;
  assert.match(job?.key ?? "", /^cron:job_/);
});

test("a chat sees and changes only its own jobs", async () => {
  await using t = await start();
  t.say(`cron ${JSON.stringify({ action: "add", message: "mine", every: "1h" })}`);
  await until("it is scheduled", () => t.texts().length === 1);
  const id = /Scheduled (job_\w+)/.exec(t.model.requests.at(-1)?.bodyText ?? "")?.[1];
  t.telegram.pushText({ chatId: 8, userId: 8, text: `cron ${JSON.stringify({ action: "remove", id })}` });
  await until("it is refused", () => /There is no scheduled job/.test(t.model.requests.at(-1)?.bodyText ?? ""));
  t.telegram.pushText({ chatId: 8, userId: 8, text: `cron ${JSON.stringify({ action: "list" })}` });
  await until("nothing is seen", () =>
    /Nothing is scheduled in this chat/.test(t.model.requests.at(-1)?.bodyText ?? ""),
  );
});

test("a job of a thread speaks in that thread", async () => {
  await using t = await start();
  const input = JSON.stringify({ action: "add", message: "water the plants", every: "1h" });
  t.telegram.pushText({ chatId: 7, userId: 7, thread: 5, text: `cron ${input}` });
  await until("it is scheduled", () => t.texts().length === 1);
  const [job] = await t.gateway.gateway.api.cron.list();
  assert.equal(job?.sessionKey, "telegram:7:5");
  await t.gateway.gateway.api.cron.run(job?.id ?? "");
  await until("it is said", () => t.texts().includes("done: water the plants"));
  assert.deepEqual(
    t.telegram.sent.map(({ thread }) => thread),
    ["5", "5"],
  );
});

test("who deletes a conversation deletes its jobs, and that of a job goes alone", async () => {
  await using t = await start();
  const { api } = t.gateway.gateway;
  const { id } = await api.cron.add({ prompt: "x", every: "1h", session: "alone", sessionKey: "telegram:7" });
  await api.cron.add({ prompt: "y", every: "1h", sessionKey: "telegram:8" });
  await api.cron.run(id);
  await t.gateway.waitForEvent(
    (event) => event.type === "schedule_run_changed" && event.payload.status === "completed",
    `cron:${id}`,
  );
  const prompts = async () => (await api.cron.list()).map(({ prompt }) => prompt);
  await api.deleteSession(`cron:${id}`);
  assert.deepEqual(await prompts(), ["x", "y"]);
  t.say("hello");
  await until("it is answered", () => t.texts().includes("ok"));
  await api.deleteSession("telegram:7");
  assert.deepEqual(await prompts(), ["y"]);
});

test("what a job with a conversation of its own schedules is its chat's", async () => {
  await using t = await start();
  const inner = JSON.stringify({ action: "add", name: "inner", message: "x", every: "2h" });
  t.say(
    `cron ${JSON.stringify({ action: "add", name: "outer", message: `cron ${inner}`, every: "1h", session: "alone" })}`,
  );
  await until("it is scheduled", () => t.texts().length === 1);
  const [outer] = await t.gateway.gateway.api.cron.list();
  await t.gateway.gateway.api.cron.run(outer?.id ?? "");
  await until("it has run", () => t.texts().length === 2);
  t.say("/cron");
  await until("the chat sees both", () => /"outer"[\s\S]*"inner"/.test(t.texts().at(-1) ?? ""));
});

test("what a job with a conversation of its own asks is answered in its chat, by number and by button", async () => {
  const telegram = await startFakeTelegram({ token });
  const ask = (request: RecordedRequest) =>
    callThenDone("ask_human", { question: `Which ${request.index}?`, options: ["Tea", "Milk"] })(request);
  await using model = await startFakeOpenAI({ answer: ask });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase, { channels }) });
  const { cron } = gateway.gateway.api;
  const { id } = await cron.add({ prompt: "ask", every: "1h", session: "alone", sessionKey: "telegram:7" });
  const asked = (n: number) => {
    const questions = () => telegram.sent.filter(({ text }) => /Which \d+\?/.test(text));
    return until("it asks", () => questions().length === n).then(() => questions().at(-1));
  };
  await cron.run(id);
  await asked(1);
  telegram.pushText({ chatId: 7, userId: 7, text: "2" });
  await until("the number counts", () => telegram.sent.some(({ text }) => /done: .*Milk/.test(text)));
  await cron.run(id);
  const second = await asked(2);
  telegram.pushPress({ messageId: second?.messageId ?? 0, label: "Tea", userId: 7 });
  await until("the button counts", () => telegram.sent.some(({ text }) => /done: .*Tea/.test(text)));
  await telegram.stop();
});

test("a kill while the jobs of the Go maxclaw are taken over: each is there once", async () => {
  const home = await tempHome();
  await mkdir(join(home, "workspace/.cron"), { recursive: true });
  const job = (message: string, enabled: boolean) => ({
    schedule: { type: "cron", expr: "0 9 * * *" },
    payload: { message, channels: ["telegram"], to: "7" },
    enabled,
  });
  await writeFile(
    join(home, "workspace/.cron/jobs.json"),
    JSON.stringify({ job_1: job("news", true), job_2: job("off", false) }),
  );
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig("http://127.0.0.1:9")));
  const copies = await tempHome();
  const journal = join(copies, "whole/journal");
  {
    await using gateway = await startGateway({ home });
    await until("they are taken over", () => gateway.log.lines.some(({ message }) => /^Imported 2/.test(message)));
    await cp(home, join(copies, "whole"), { recursive: true });
  }
  const [segment = ""] = await readdir(journal);
  const lines = (await readFile(join(journal, segment), "utf8")).split("\n");
  const isOfImport = (line: string): boolean => /"cron(?:_import)?"/.test(line);
  const cuts = lines.flatMap((line, index) => (isOfImport(line) ? [index] : []));
  assert.equal(cuts.length, 4, "two jobs, one switched off, and that it was done");
  for (const cut of cuts) {
    const copy = join(copies, `cut-${cut}`);
    await cp(join(copies, "whole"), copy, { recursive: true });
    await rm(join(copy, "gateway.lock"), { force: true });
    await rm(join(copy, "workspace/.sessions/.lock"), { force: true });
    await rm(join(copy, "journal.mark"));
    await rm(join(copy, "workspace/.sessions/.journal.mark"));
    await writeFile(
      join(copy, "journal", segment),
      lines
        .slice(0, cut)
        .map((line) => `${line}\n`)
        .join(""),
    );
    await using gateway = await startGateway({ home: copy });
    await until("they are taken over", () => gateway.log.lines.some(({ message }) => /^Imported 2/.test(message)));
    const jobs = await gateway.gateway.api.cron.list();
    assert.deepEqual(jobs.map(({ prompt, enabled }) => `${prompt} ${enabled}`).sort(), ["news true", "off false"]);
  }
  await rm(copies, { recursive: true });
});

test("the jobs of the Go maxclaw are taken over once", async () => {
  const home = await tempHome();
  await mkdir(join(home, "workspace/.cron"), { recursive: true });
  const job = {
    name: "soon",
    schedule: { type: "once", atMs: Date.now() + 3000 },
    payload: { message: "from before", channels: ["telegram"], to: "7" },
    enabled: true,
  };
  await writeFile(join(home, "workspace/.cron/jobs.json"), JSON.stringify({ job_1: job }));
  await using t = await start({}, home);
  await until("it is said", () => t.texts().includes("done: from before"), 20_000);
  await using again = await t.gateway.restart();
  await again.ask("hello");
  assert.equal(t.texts().filter((text) => text === "done: from before").length, 1);
});

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../support/engine-kit.js";
import { startFakeOpenAI } from "../support/fake-openai.js";
import { startFakeTelegram } from "../support/fake-telegram.js";
import { assertSound, openAIConfig, startGateway, tempHome } from "../support/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../support/model-script.js";

const token = "4242:cron-secret";

/** Schedules what it is asked to, and says what a run told it. */
function answer(request: RecordedRequest): ScriptedAnswer {
  const text = request.userText.replace(/^[\s\S]*<\/now>\s*/, "");
  const scheduled = /^\[Scheduled: .*\] (.*)$/.exec(text);
  if (scheduled !== null) return { text: `done: ${scheduled[1]}` };
  const last = request.bodyText.lastIndexOf('"role":"tool"') > request.bodyText.lastIndexOf('"role":"user"');
  const asked = /^cron (\{.*\})$/.exec(text);
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
  t.say(`cron ${JSON.stringify({ action: "add", message: "drink tea", at: inMs(6000) })}`);
  await until("it is said", () => t.texts().includes("done: drink tea"), 20_000);
  const completed = await t.gateway.waitForEvent(
    (event) => event.type === "schedule_run_changed" && event.payload.status === "completed",
    "telegram:7",
  );
  assert.ok(completed.type === "schedule_run_changed" && completed.payload.session_key === "telegram:7");
  const events = await t.gateway.events("telegram:7");
  assertSound(events);
  t.say(`cron ${JSON.stringify({ action: "list" })}`);
  await until("the list is read", () =>
    /"drink tea\\*": once at .*, off, last run completed/.test(t.model.requests.at(-1)?.bodyText ?? ""),
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

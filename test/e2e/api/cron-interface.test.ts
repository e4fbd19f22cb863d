import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { openCli } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";
import { openAIConfig, startGateway } from "../../support/worlds/gateway.js";

const token = "4242:cron-secret";

test("jobs are made, changed, run and removed over HTTP, in the shapes of the Go maxclaw", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "Watered." } });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`http://${gateway.gateway.address}/api/cron${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    });
    const answer: unknown = await response.json();
    return { status: response.status, answer: Object(answer) };
  };
  assert.deepEqual((await call("GET", "")).answer, { jobs: [] });
  const made = await call("POST", "", {
    title: "Plants",
    prompt: "water the plants",
    every: "3600000",
    channels: ["desktop"],
  });
  assert.equal(made.status, 200);
  const { id, createdAt, nextRun, ...job } = made.answer;
  assert.equal(Date.parse(nextRun) - Date.parse(createdAt), 3_600_000, "a plain number is milliseconds");
  assert.deepEqual(job, {
    title: "Plants",
    prompt: "water the plants",
    scheduleType: "every",
    schedule: "3600000",
    sessionKey: "webui:scheduled",
    channels: ["webui"],
    session: "chat",
    missed: "once",
    enabled: true,
  });
  const run = await call("POST", `/${id}/run`);
  assert.equal(run.answer.ok, true);
  const records = async () => (await call("GET", `/history?jobId=${id}&limit=5`)).answer.records;
  await until("it has run", async () => (await records())[0]?.status === "success");
  const [record] = await records();
  assert.deepEqual([record.jobId, record.jobTitle, record.id], [id, "Plants", run.answer.record.id]);
  assert.equal((await call("GET", "/history")).answer.records.length, 1);

  const changed = await call("PUT", `/${id}`, { prompt: "look", cron: "0 9 * * 1-5", timeZone: "Europe/Berlin" });
  assert.deepEqual(
    [changed.answer.id, changed.answer.schedule, changed.answer.timeZone, changed.answer.title],
    [id, "0 9 * * 1-5", "Europe/Berlin", "Plants"],
  );
  const renamed = await call("PUT", `/${id}`, { title: "Flowers" });
  assert.deepEqual(
    [renamed.answer.title, renamed.answer.prompt, renamed.answer.schedule, renamed.answer.timeZone],
    ["Flowers", "look", "0 9 * * 1-5", "Europe/Berlin"],
  );
  const number = await call("PUT", `/${id}`, { every: 120_000 });
  assert.deepEqual([number.status, number.answer.schedule], [200, "120000"], "a JSON number is milliseconds, too");
  const second = await call("POST", "", { prompt: "x", every: 7_200_000 });
  assert.equal(Date.parse(second.answer.nextRun) - Date.parse(second.answer.createdAt), 7_200_000);
  assert.equal((await call("DELETE", `/${second.answer.id}`)).status, 200);
  assert.equal((await call("POST", `/${id}/disable`)).answer.enabled, false);
  assert.equal((await call("POST", `/${id}/enable`)).answer.enabled, true);
  assert.deepEqual((await call("DELETE", `/${id}`)).answer, { ok: true });
  for (const [method, path, body, status] of [
    ["DELETE", `/${id}`, undefined, 404],
    ["POST", `/${id}/run`, undefined, 404],
    ["PUT", `/${id}`, { prompt: "x", every: "1h" }, 404],
    ["GET", `/history?jobId=${id}`, undefined, 404],
    ["POST", "", { prompt: "x" }, 400],
    ["POST", "", { prompt: "x", every: "1h", cron: "* * * * *" }, 400],
    ["POST", "", { prompt: "x", every: "1000" }, 400],
    ["POST", "", { prompt: "x", every: 1000 }, 400],
    ["POST", "", { prompt: "x", every: -120_000 }, 400],
    ["POST", "", { prompt: "x", every: 1e21 }, 400],
    ["POST", "", { prompt: "x", every: null }, 400],
    ["POST", "", { prompt: "x", every: "1h", sessionKey: "nowhere" }, 400],
    ["POST", "", { every: "1h" }, 400],
  ] as const) {
    const refused = await call(method, path, body);
    assert.equal(refused.status, status, `${method} ${path} ${JSON.stringify(body)}`);
    assert.match(refused.answer.error, /\S/);
  }
});

describe("maxclaw cron", () => {
  for (const isRunning of [true, false]) {
    it(`makes and changes jobs ${isRunning ? "of the gateway that runs" : "when none runs"}`, async () => {
      await using cli = await openCli();
      await using _model = await withModel(cli, { text: "Done." });
      if (isRunning) await startCliGateway(cli);
      assert.match((await cli.run(["cron", "list"])).stdout, /Nothing is scheduled/);
      const added = await cli.run([
        "cron",
        "add",
        "say hello",
        "--every",
        "2h",
        "--name",
        "Hello",
        "--chat",
        "telegram:42",
      ]);
      const id = /^Added (job_\w+) "Hello": every 2 h, next /.exec(added.stdout)?.[1] ?? "";
      assert.notEqual(id, "", added.stderr);
      assert.match(
        (await cli.run(["cron", "list"])).stdout,
        new RegExp(`^${id} +enabled +every 2 h .* telegram:42 +Hello$`, "m"),
      );
      assert.match((await cli.run(["cron", "disable", id])).stdout, /every 2 h, off\n$/);
      assert.match((await cli.run(["cron", "enable", id])).stdout, /every 2 h, next /);
      assert.match(
        (await cli.run(["cron", "run", id])).stdout,
        isRunning ? /^job_\w+ runs now$/m : /as soon as the gateway is started/,
      );
      assert.match((await cli.run(["cron", "history", id])).stdout, / Hello +/);
      assert.equal((await cli.run(["cron", "remove", id])).stdout, `Removed ${id}\n`);
      const gone = await cli.run(["cron", "remove", id]);
      assert.deepEqual([gone.code, gone.stderr], [1, `maxclaw: There is no scheduled job ${id}.\n`]);
      for (const [flags, sentence] of [
        [[], /exactly one of --at, --every and --cron\.\n$/],
        [["--every", "1h", "--at", "2060-01-01T09:00"], /exactly one of --at, --every and --cron\.\n$/],
        [["--every", "30s"], /one minute/],
        [["--every", "1h", "--chat", "nowhere"], /"nowhere" is/],
      ] as const) {
        const wrong = await cli.run(["cron", "add", "x", ...flags]);
        assert.equal(wrong.code, 2, wrong.stderr);
        assert.match(wrong.stderr, sentence);
      }
    });
  }
});

test("times are shown in the zone of the config, with its name, on the command line and in the chat", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "Done." }, { agents: { defaults: { timezone: "Asia/Shanghai" } } });
  const added = await cli.run(["cron", "add", "x", "--at", "2060-01-01T09:00Z", "--chat", "webui:home"]);
  assert.match(added.stdout, /once at 2060-01-01 17:00 \(Asia\/Shanghai\), next 2060-01-01 17:00 \(Asia\/Shanghai\)/);
  const listed = await cli.run(["cron", "list"]);
  assert.match(listed.stdout, /once at 2060-01-01 17:00 \(Asia\/Shanghai\) +2060-01-01 17:00 \(Asia\/Shanghai\)/);
  assert.match((await cli.run(["cron", "status"])).stdout, /Next Run: 2060-01-01 17:00 \(Asia\/Shanghai\)/);
  const gateway = await startCliGateway(cli);
  const answer = await fetch(`${gateway.url}/api/message`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ sessionKey: "webui:home", content: "/cron" }),
  });
  assert.match(await answer.text(), /once at 2060-01-01 17:00 \(Asia\/Shanghai\), next 2060-01-01 17:00/);
});

test("a chat hears about the first of several runs that fail, and again when there is something new", async () => {
  await using telegram = await startFakeTelegram({ token });
  let fails = true;
  await using model = await startFakeOpenAI({
    answer: () => (fails ? { status: 400 } : { text: "fine again" }),
  });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase, { channels }) });
  const { cron } = gateway.gateway.api;
  const { id } = await cron.add({ prompt: "look", every: "1h", sessionKey: "telegram:7" });
  const { api } = gateway.gateway;
  const beat = async (n: number): Promise<void> => {
    await api.cron.update(id, { prompt: "look", at: new Date(Date.now() + 300).toISOString() });
    await until(`run ${n}`, async () => {
      const records = await cron.history({ jobId: id, limit: 20 });
      return records.length === n && records[0]?.status !== "running";
    });
    await api.cron.enable(id, true);
  };
  await beat(1);
  await until("it is told", () => telegram.sent.length === 1);
  await beat(2);
  fails = false;
  await beat(3);
  await until("the answer is told", () => telegram.sent.some(({ text }) => text === "fine again"));
  assert.equal(telegram.sent.length, 2, telegram.sent.map(({ text }) => text).join(" | "));
});

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { z } from "zod";
import { createLimits } from "../../../src/tools/exec/limits.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { callThenDone, lastResult, resultsIn, startWorld } from "../../support/worlds/channels/chat-world.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { assertSound, openAIConfig, startGateway, type TestGateway, tempHome } from "../../support/worlds/gateway.js";
import type { AnswerScript, FakeModelServer } from "../../support/worlds/model-script.js";
import { withoutSandbox } from "../../support/worlds/needs.js";
import { processesOf, untilGone } from "../../support/worlds/tools/exec-place.js";

const closed = withoutSandbox();
const folder = "workspace/.sessions/webui_test";

/** A command that runs for ever, with a name that no other test has. */
const nap = (id: number): string => `sleep ${process.pid}${id}`;

function configOf(model: FakeModelServer, sandbox: "auto" | "off", executionMode: "ask" | "auto" = "auto") {
  return openAIConfig(model.apiBase, {
    agents: { defaults: { model: "openai/test-model", executionMode } },
    tools: { exec: { sandbox } },
  });
}

interface World extends AsyncDisposable {
  readonly model: FakeModelServer;
  readonly gateway: TestGateway;
}

async function start(answer: AnswerScript, sandbox: "auto" | "off", mode: "ask" | "auto" = "auto"): Promise<World> {
  const model = await startFakeOpenAI({ answer });
  const gateway = await startGateway({ isRuled: true, config: configOf(model, sandbox, mode) });
  return {
    model,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

async function allRun(...commands: readonly string[]): Promise<void> {
  await until("all of it runs", () => commands.every((one) => processesOf(one).length > 0), 20_000);
}

test("in the sandbox a command runs without a question, in the chat's own folder, and reaches not even our port", {
  skip: closed,
}, async () => {
  let port = "";
  await using t = await start(
    (request) =>
      callThenDone("exec", {
        command: `echo made > made.txt; cat made.txt; ls; exec 9<>/dev/tcp/127.0.0.1/${port} && echo reached`,
      })(request),
    "auto",
    "ask",
  );
  port = t.gateway.gateway.address.split(":")[1] ?? "";
  const { response } = await t.gateway.ask("work");
  assert.match(response, /^done: made\nmade\.txt\n[\s\S]*Connection refused[\s\S]*\[exit 1\]$/);
  assert.equal(readFileSync(join(t.gateway.home, folder, "made.txt"), "utf8"), "made\n");
  const { sandbox } = await t.gateway.gateway.api.status();
  assert.deepEqual(sandbox, {
    state: "ready",
    name: "bubblewrap",
    ...(sandbox?.memory === undefined ? {} : { memory: sandbox.memory }),
  });
  assert.equal(sandbox?.memory === undefined, createLimits().holdsMemory);
  const status = await runMaxclaw(["status"], t.gateway.home);
  assert.match(status.stdout, /^Sandbox: {3}bubblewrap; commands can change/m);
  assertSound(await t.gateway.events());
});

test("a file that was sent is counted by a command, whose result is marked as written by others", {
  skip: closed,
}, async () => {
  await using w = await startWorld((request) => {
    if (resultsIn(request) > 1) return { text: "It has 3 rows." };
    const path = /<file name="data\.csv"[^>]* path="([^"]+)"/.exec(request.userText)?.[1] ?? "no file";
    // As in a script, the second one does not name the folder: that the file came in this conversation is enough.
    const name = resultsIn(request) === 0 ? `'${path}'` : "rec*/*-data.csv";
    return { toolCalls: [{ id: `call_${request.index}`, name: "exec", input: { command: `wc -l < ${name}` } }] };
  });
  const bytes = Buffer.from("name,size\na,1\nb,2\n");
  w.telegram.pushMessage({
    chat: { id: 42, type: "private", first_name: "Ann" },
    from: { id: 42, is_bot: false, first_name: "Ann" },
    caption: "count the rows with a command",
    document: {
      file_id: w.telegram.keepFile(bytes),
      file_size: bytes.length,
      mime_type: "text/csv",
      file_name: "data.csv",
    },
  });
  await w.shown("It has 3 rows.");
  for (const request of w.model.requests.slice(1))
    assert.match(lastResult(request), /^<untrusted source="a command that could read the files sent here">\n3\n/);
  assertSound(await w.gateway.events("telegram:42"));
});

test("without a sandbox each command is asked about, shown whole, and run after the yes", async () => {
  const command = "echo one >> log.txt\necho two >> log.txt";
  await using t = await start(callThenDone("exec", { command }), "off", "ask");
  const { api } = t.gateway.gateway;
  const turn = await t.gateway.post("work");
  await until("it is asked", () => api.listQuestions().length === 1, 10_000);
  const [question] = api.listQuestions();
  assert.ok(question);
  assert.match(
    question.question,
    /^May I run echo one >> log\.txt\\necho two >> log\.txt\? That runs without a sandbox\./,
  );
  const log = join(t.gateway.home, folder, "log.txt");
  assert.ok(!existsSync(log));
  await api.answerQuestion({ sessionKey: "webui:test", requestId: question.requestId, answer: "allow_once" });
  assert.equal((await t.gateway.outcome(turn)).response, "done: (no output)");
  assert.equal(readFileSync(log, "utf8"), "one\ntwo\n");
  const denied = await t.gateway.post("again");
  await until("it is asked again", () => api.listQuestions().length === 1, 10_000);
  const requestId = api.listQuestions()[0]?.requestId ?? "";
  await api.answerQuestion({ sessionKey: "webui:test", requestId, answer: "deny" });
  assert.match((await t.gateway.outcome(denied)).response, /the person did not allow it/);
  assert.equal(readFileSync(log, "utf8"), "one\ntwo\n");
  assert.match((await runMaxclaw(["status"], t.gateway.home)).stdout, /^Sandbox: {3}off, so every command asks$/m);
});

test("in auto without a sandbox what is harmless runs, what names secrets or destroys asks, and status says so", async () => {
  let command = "";
  await using t = await start((request) => callThenDone("exec", { command })(request), "off");
  const { api } = t.gateway.gateway;
  command = "echo plain > a.txt; cat a.txt";
  assert.equal((await t.gateway.ask("work")).response, "done: plain");
  const config = join(t.gateway.home, "config.json");
  for (const [text, why] of [
    [`cat ${config}`, /which can hold secrets/],
    ["cat /etc/hostname", /leaves the workspace for \/etc\/hostname/],
    [`cat $(echo ${config})`, /its words do not say what it names/],
    [`sh -c 'cd / && rm -rf "${t.gateway.home}"'`, /can destroy all that is in/],
  ] as const) {
    command = text;
    const turn = await t.gateway.post(`work ${text}`);
    await until("it is asked", () => api.listQuestions().length === 1, 10_000);
    const [question] = api.listQuestions();
    assert.match(question?.question ?? "", why);
    await api.answerQuestion({ sessionKey: "webui:test", requestId: question?.requestId ?? "", answer: "deny" });
    assert.match((await t.gateway.outcome(turn)).response, /the person did not allow it/);
  }
  assert.ok(existsSync(config));
  assert.equal((await api.status()).sandbox?.bare, "unasked");
  const { stdout } = await runMaxclaw(["status"], t.gateway.home);
  assert.match(stdout, /^Sandbox: {3}off, and mode auto runs commands without asking\. Only those whose words name/m);
});

test("a rule that allows every command does not allow the end of everything", async () => {
  const rules = [{ tool: "exec", verdict: "allow" }];
  const home = await tempHome();
  await using model = await startFakeOpenAI({ answer: callThenDone("exec", { command: `rm -rf ${home}` }) });
  const config = openAIConfig(model.apiBase, { policy: { rules }, tools: { exec: { sandbox: "off" } } });
  await writeFile(join(home, "config.json"), JSON.stringify(config));
  await using gateway = await startGateway({ home });
  const { api } = gateway.gateway;
  const turn = await gateway.post("clean up");
  await until("it is asked", () => api.listQuestions().length === 1, 10_000);
  const [question] = api.listQuestions();
  assert.deepEqual(
    question?.options.map(({ id }) => id),
    ["allow_once", "deny"],
  );
  await api.answerQuestion({ sessionKey: "webui:test", requestId: question?.requestId ?? "", answer: "deny" });
  await gateway.outcome(turn);
  assert.ok(existsSync(join(home, "config.json")));
});

for (const sandbox of ["auto", "off"] as const) {
  const skip = sandbox === "auto" && closed;
  const n = sandbox === "auto" ? 1 : 2;
  describe(sandbox === "auto" ? "in the sandbox" : "without a sandbox", { skip }, () => {
    test("/stop kills a command and all that it has started", async () => {
      const command = `${nap(7001 * n)} & (setsid ${nap(7003 * n)} &); ${nap(7007 * n)}`;
      await using t = await start(callThenDone("exec", { command }), sandbox);
      const turn = await t.gateway.post("work");
      await allRun(nap(7001 * n), nap(7003 * n), nap(7007 * n));
      const stoppedAt = Date.now();
      await t.gateway.gateway.api.stopTurn("webui:test");
      assert.equal((await t.gateway.outcome(turn)).end, "cancelled");
      for (const one of [7001, 7003, 7007]) await untilGone(nap(one * n));
      assert.ok(Date.now() - stoppedAt < 5000, "dead soon, however busy the machine");
      assertSound(await t.gateway.events());
    });

    test("deleting a session, and stopping the gateway, ends what runs in the background", async () => {
      const commands = [nap(7011 * n), nap(7013 * n)];
      await using model = await startFakeOpenAI({
        answer: (request) => {
          const command = commands[request.userText.includes("second") ? 1 : 0];
          return callThenDone("exec", { command, background: true })(request);
        },
      });
      {
        await using gateway = await startGateway({ isRuled: true, config: configOf(model, sandbox) });
        await gateway.ask("first");
        await gateway.ask("second", { key: "webui:other" });
        await allRun(...commands);
        await gateway.gateway.api.deleteSession("webui:test");
        await untilGone(commands[0] ?? "");
        assert.equal(processesOf(commands[1] ?? "").length, 1);
      }
      assert.deepEqual(processesOf(commands[1] ?? ""), []);
    });

    test("kill -9 of the gateway kills every command; its call is told as interrupted and not made again", async () => {
      const command = `echo once >> log.txt; ${nap(7021 * n)} & (setsid ${nap(7027 * n)} &); ${nap(7039 * n)}`;
      await using model = await startFakeOpenAI({ answer: callThenDone("exec", { command }) });
      const home = await tempHome();
      await writeFile(join(home, "config.json"), JSON.stringify(configOf(model, sandbox)));
      const messageId = `message-kill-${n}`;
      const send = (url: string) =>
        fetch(`${url}/api/message`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ sessionKey: "webui:test", content: "work", messageId }),
        });
      {
        await using daemon = await startDaemon({ home, env: { MAXCLAW_TEST_TOKEN: "environment-secret" } });
        void send(daemon.url).catch(() => undefined);
        await allRun(nap(7021 * n), nap(7027 * n), nap(7039 * n));
        await daemon.end("SIGKILL");
        for (const one of [7021, 7027, 7039]) await untilGone(nap(one * n));
      }
      await using daemon = await startDaemon({ home });
      const answer = z.object({ response: z.string() }).parse(await (await send(daemon.url)).json());
      assert.match(answer.response, /^done: interrupted: the gateway restarted/);
      assert.match(lastResult(model.requests.at(-1)), /its outcome is unknown/);
      assert.equal(readFileSync(join(home, folder, "log.txt"), "utf8"), "once\n");
      await daemon.end("SIGTERM");
    });
  });
}

test("in a session that was made with a folder of the workspace commands begin there, and the assistant is told", async () => {
  await using model = await startFakeOpenAI({
    answer: [{ toolCalls: [{ id: "c1", name: "exec", input: { command: "pwd; cat notes.txt" } }] }, { text: "done" }],
  });
  await using gateway = await startGateway({ config: configOf(model, "auto") });
  const folder = join(gateway.workspace, "project");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "notes.txt"), "bring bread");
  await gateway.gateway.api.createSession({ key: "webui:there", cwd: folder });
  await gateway.ask("look", { key: "webui:there" });
  assert.ok(model.requests[0]?.userText.includes(`<working_folder>${folder}</working_folder>`));
  const done = (await gateway.events("webui:there")).find((event) => event.type === "tool_execution_complete");
  assert.ok(done?.type === "tool_execution_complete");
  assert.equal(done.payload.output.trim().split("\n").slice(0, 2).join("\n"), `${folder}\nbring bread`);
});

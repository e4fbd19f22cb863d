import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createClient } from "../../../src/client/node.js";
import type { DocumentMessage } from "../../../src/sessions/session.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { openCli } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";
import { runMaxclaw } from "../../support/worlds/daemon.js";
import { openAIConfig, startGateway } from "../../support/worlds/gateway.js";

const key = "cli:default";

test("sessions show tells a conversation from its log: without its document, with a broken one, beside damage, after a kill", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "Noted." });
  const dir = join(cli.home, "workspace", ".sessions");
  const log = join(dir, "cli_default.events.jsonl");
  const document = join(dir, "cli_default.json");
  const show = (args: readonly string[] = []) => cli.run(["sessions", "show", key, ...args]);

  const first = await startCliGateway(cli);
  await cli.run(["agent", "-m", "remember the milk"]);
  // Its gateway still has the last events in memory only.
  assert.match((await show()).stdout, /remember the milk[\s\S]*Noted\./);
  first.child.kill("SIGKILL");
  await first.result;
  const killed = await show();
  assert.match(killed.stdout, /remember the milk[\s\S]*Noted\./);
  const told = JSON.parse((await show(["--json"])).stdout);

  const second = await startCliGateway(cli);
  second.child.kill("SIGTERM");
  const ended = await second.result;
  assert.equal(ended.code, 0, ended.stderr);
  await rm(document, { force: true });
  assert.deepEqual(JSON.parse((await show(["--json"])).stdout).messages, told.messages);
  await writeFile(document, "no document at all");
  assert.deepEqual(JSON.parse((await show(["--json"])).stdout).messages, told.messages);
  assert.equal(await readFile(document, "utf8"), "no document at all");

  const text = await readFile(log, "utf8");
  assert.match(text, /"turn_execution_start"/, `the log is whole after an orderly stop: ${ended.stderr}`);
  await writeFile(log, text.replace('"turn_execution_start"', '"turn_execution_stArt"'));
  const damaged = await show();
  assert.deepEqual([damaged.code, damaged.stdout], [0, killed.stdout]);
  assert.match(damaged.stderr, /^maxclaw: 1 damaged line of \S+ left out \(maxclaw events verify cli:default\)$/m);
});

test("sessions show still shows a conversation of the Go maxclaw, and names what there is not", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "x" });
  const dir = join(cli.home, "workspace", ".sessions");
  await mkdir(dir, { recursive: true });
  const momo = { key, messages: [{ role: "user", content: "My cat is Momo.", timestamp: "2025-01-01T10:00:00Z" }] };
  await writeFile(join(dir, "cli_default.json"), JSON.stringify(momo));
  assert.match((await cli.run(["sessions", "show", key])).stdout, /My cat is Momo\./);
  const nobody = await cli.run(["sessions", "show", "cli:nobody"]);
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /There is no session cli:nobody/);
});

test("sessions show, the document and the messages over HTTP name tools, files of both sides, and questions", async () => {
  const asked = { question: "Which colour?", options: ["red", "blue"] };
  await using model = await startFakeOpenAI({
    answer: [
      { toolCalls: [{ id: "c1", name: "write_file", input: { path: "plan.txt", content: "paint" } }] },
      { toolCalls: [{ id: "c2", name: "ask_human", input: asked }] },
      { toolCalls: [{ id: "c3", name: "send_file", input: { path: "plan.txt" } }] },
      { text: "**It** is painted." },
    ],
  });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const { api, address, pageUrl } = gateway.gateway;
  await gateway.ask("/help");
  const client = createClient({ url: pageUrl });
  const file = await client.upload(Buffer.from("a wall"), "wall.txt").finally(() => client.close());
  const { messageId } = await api.send({ sessionKey: "webui:test", content: "**Paint** it", attachments: [file] });
  const question = await gateway.waitForEvent((event) => event.type === "human_input_asked");
  assert.ok(question.type === "human_input_asked");
  await api.answerQuestion({ sessionKey: "webui:test", requestId: question.payload.request_id, answer: "blue" });
  await gateway.outcome(messageId);

  const shown = await runMaxclaw(["sessions", "show", "webui:test"], gateway.home);
  const lines = [
    /^\[write_file\] .+$/m,
    /^\[question\] Which colour\?\n\[answer\] blue$/m,
    /^\[send_file\] .+$/m,
    /^\*\*It\*\* is painted\.$/m,
    /^\[file\] wall\.txt, 6 B: \/.+\/received\/\w{8}-wall\.txt$/m,
    /^\[file\] plan\.txt, 5 B: \/.+plan\.txt$/m,
  ];
  for (const line of lines) assert.match(shown.stdout, line);
  assert.match(shown.stdout, /^Paint it \(webui:test, idle\)$/m, "a title is not Markdown");

  const { messages } = (await (await fetch(`http://${address}/api/sessions/webui:test/messages`)).json()) as {
    readonly messages: readonly DocumentMessage[];
  };
  const filesIn = (role: string) =>
    messages.flatMap((message) =>
      message.role === role
        ? (message.parts ?? []).flatMap((part) => (part.type === "file" ? [[part.filename, part.size_bytes]] : []))
        : [],
    );
  assert.deepEqual([filesIn("user"), filesIn("assistant")], [[["wall.txt", 6]], [["plan.txt", 5]]]);
  const { sessions } = await api.listSessions({ limit: 5, offset: 0 });
  assert.match(sessions[0]?.summary ?? "", /^\*\*Paint\*\* it/, "a command is not what it is about");
});

test("sessions list without a gateway says what a gateway would, writes nothing, and says what is damaged", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "Noted." });
  const sessions = join(cli.home, "workspace", ".sessions");
  const journal = join(cli.home, "journal");
  const list = async (...args: readonly string[]) => await cli.run(["sessions", "list", ...args]);
  const filesOf = (folder: string) =>
    readdirSync(folder)
      .sort()
      .map((name) => [name, statSync(join(folder, name)).mtimeMs, statSync(join(folder, name)).size]);

  const first = await startCliGateway(cli);
  await cli.run(["agent", "-m", "the first", "-s", "cli:first"]);
  await cli.run(["agent", "-m", "gone soon", "-s", "cli:gone"]);
  await cli.run(["sessions", "delete", "cli:gone", "--yes"]);
  await cli.run(["agent", "-m", "the last", "-s", "cli:last"]);
  const running = JSON.parse((await list("--json")).stdout);
  assert.deepEqual(
    running.sessions.map(({ key }: { readonly key: string }) => key),
    ["cli:last", "cli:first"],
  );
  first.child.kill("SIGKILL");
  await first.result;

  // Of a killed gateway some documents and their lines may not be written yet, or never were.
  rmSync(join(sessions, "cli_last.json"), { force: true });
  const before = [filesOf(sessions), filesOf(journal)];
  const killed = await list("--json");
  assert.deepEqual([killed.code, killed.stderr], [0, ""]);
  assert.deepEqual(JSON.parse(killed.stdout), running);
  assert.match((await list("--limit", "1")).stdout, /cli:last[\s\S]*… 1 more/);
  assert.match((await list("--channel", "telegram")).stdout, /There is no conversation yet/);
  assert.deepEqual([filesOf(sessions), filesOf(journal)], before, "nothing was written, not even a lock");

  const path = join(journal, readdirSync(journal)[0] ?? "");
  const bytes = readFileSync(path);
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const damaged = await list();
  assert.equal(damaged.code, 0, damaged.stderr);
  assert.match(damaged.stderr, /^maxclaw: \S+ is damaged at byte \d+\. Run "maxclaw repair"\./m);
  assert.match(damaged.stdout, /cli:first/);
});

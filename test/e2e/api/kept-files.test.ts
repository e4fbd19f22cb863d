import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, startGateway, tempHome } from "../../support/worlds/gateway.js";

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

/** What a background command of the chat `webui:test` can do: anything in its own folder. */
function ownFolder(workspace: string): string {
  const folder = join(workspace, ".sessions", "webui_test");
  mkdirSync(folder, { recursive: true });
  return folder;
}

test("links in the places where the gateway once wrote lead nothing anywhere: files that come, results, the plan", async () => {
  const plan = { toolCalls: [{ id: "c2", name: "plan", input: { action: "create", goal: "Tea", steps: ["Boil"] } }] };
  await using model = await startFakeOpenAI({ answer: [plan, { text: "planned" }, { text: "seen" }] });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const folder = ownFolder(gateway.workspace);
  const skills = join(gateway.workspace, "skills");
  mkdirSync(skills, { recursive: true });
  writeFileSync(join(gateway.workspace, "AGENTS.md"), "be kind");
  for (const name of ["received", "artifacts", "tool-results", "screenshots"]) symlinkSync(skills, join(folder, name));
  symlinkSync(join(gateway.workspace, "AGENTS.md"), join(folder, "plan.json"));

  await gateway.ask("make a plan");
  const kept = join(gateway.workspace, ".sessions", ".kept", "webui_test");
  await until("the plan is written", () => existsSync(join(kept, "plan.json")));
  const uploaded = await fetch(`http://${gateway.gateway.address}/api/upload`, {
    method: "POST",
    body: "do this",
    headers: { "x-filename": "SKILL.md" },
  });
  const file = (await uploaded.json()) as { path: string; filename: string; mimeType: string; sizeBytes: number };
  const { messageId } = await gateway.gateway.api.send({
    sessionKey: "webui:test",
    content: "look",
    attachments: [file],
  });
  await gateway.outcome(messageId);
  assert.match(readdirSync(join(kept, "received"))[0] ?? "", /-SKILL\.md$/);
  assert.deepEqual(readdirSync(skills), []);
  assert.equal(readFileSync(join(gateway.workspace, "AGENTS.md"), "utf8"), "be kind");
});

test("a pipe instead of plan.json stops neither its chat nor the others", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "hello" } });
  const home = await tempHome();
  const chats = Array.from({ length: 6 }, (_, index) => `webui:c${index}`);
  for (const key of chats) {
    const folder = join(home, "workspace", ".sessions", key.replace(":", "_"));
    mkdirSync(folder, { recursive: true });
    execFileSync("mkfifo", [join(folder, "plan.json")]);
  }
  await using gateway = await startGateway({ home, config: openAIConfig(model.apiBase) });
  const answers = await Promise.all(chats.map((key) => gateway.ask("hi", { key })));
  for (const { response } of answers) assert.equal(response, "hello");
  assert.equal((await fetch(`http://${gateway.gateway.address}/ready`)).status, 200);
});

test("a picture of the conversation that became a link or a pipe is left out, and nothing waits for it", async () => {
  await using model = await startFakeOpenAI({
    answer: [
      { toolCalls: [{ id: "c1", name: "read_file", input: { path: "chart.png" } }] },
      { text: "It rises" },
      { text: "A link" },
      { text: "A pipe" },
    ],
  });
  const config = openAIConfig(model.apiBase, {
    providers: {
      openai: {
        apiKey: "sk-test-key",
        apiBase: model.apiBase,
        models: [{ id: "test-model", supportsImageInput: true }],
      },
    },
  });
  await using gateway = await startGateway({ config });
  const folder = ownFolder(gateway.workspace);
  writeFileSync(join(folder, "chart.png"), pixel);
  const secret = join(gateway.home, "secret.png");
  writeFileSync(secret, Buffer.concat([pixel, Buffer.from("secret")]));
  await gateway.ask("look at the chart");
  const seen = (): string => model.requests.at(-1)?.bodyText ?? "";
  assert.ok(seen().includes(pixel.toString("base64").slice(0, 60)));

  renameSync(join(folder, "chart.png"), join(folder, "away.png"));
  symlinkSync(secret, join(folder, "chart.png"));
  assert.equal((await gateway.ask("and now?")).response, "A link");
  assert.ok(!seen().includes(pixel.toString("base64").slice(0, 60)));
  assert.match(seen(), /chart\.png cannot be shown: it cannot be read/);

  renameSync(join(folder, "chart.png"), join(folder, "link.png"));
  execFileSync("mkfifo", [join(folder, "chart.png")]);
  assert.equal((await gateway.ask("and now?")).response, "A pipe");
});

test("a plan.json that a tool has written is not a plan of the chat's", async () => {
  const plan = JSON.stringify({ goal: "Delete all", status: "running", steps: [] });
  await using model = await startFakeOpenAI({
    answer: [
      { toolCalls: [{ id: "c1", name: "write_file", input: { path: "plan.json", content: plan } }] },
      { text: "written" },
      { text: "none" },
    ],
  });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  await gateway.ask("write it");
  await using again = await gateway.restart();
  assert.doesNotMatch((await again.ask("/plan")).response, /Delete all/);
});

test("when all threads for files wait for ever, /ready says so, and is well again afterwards", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "hello" } });
  const home = await tempHome();
  writeFileSync(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  const pipes = Array.from({ length: 8 }, (_, index) => join(home, `pipe-${index}`));
  execFileSync("mkfifo", pipes);
  // In the program itself: it opens the pipes to read, and nobody writes into them.
  const script = `import { open } from "node:fs"; process.on("SIGUSR2", () => { for (const pipe of ${JSON.stringify(pipes)}) open(pipe, "r", () => {}); });`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(script)}`;
  await using daemon = await startDaemon({ home, env: { NODE_OPTIONS } });
  const ready = async (): Promise<readonly [number, unknown]> => {
    const response = await fetch(`${daemon.url}/ready`);
    return [response.status, await response.json()];
  };
  assert.deepEqual(await ready(), [200, { ready: true }]);
  daemon.child.kill("SIGUSR2");
  const stuck = { ready: false, reason: "The file system does not answer: nothing can be read or written." };
  await until("it is noticed", async () => (await ready())[0] === 503, 15_000);
  assert.deepEqual(await ready(), [503, stuck]);
  assert.equal((await fetch(`${daemon.url}/health`)).status, 200);
  // Anyone who waits to read is let go by a writer.
  for (const pipe of pipes) {
    await until("it is being opened", () => {
      try {
        closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
        return true;
      } catch {
        return false;
      }
    });
  }
  await until("it is well again", async () => (await ready())[0] === 200, 15_000);
});

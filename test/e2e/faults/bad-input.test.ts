import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { type Daemon, runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";

async function ask({ url }: Daemon, content: string, sessionKey = "webui:bad") {
  const response = await fetch(`${url}/api/message`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ sessionKey, content }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function problems({ url }: Daemon): Promise<readonly string[]> {
  const status = (await (await fetch(`${url}/api/status`)).json()) as { readonly problems: readonly string[] };
  return status.problems;
}

test("without a config the gateway chats at once and says that it is the stand-in", async () => {
  await using daemon = await startDaemon({ home: await tempHome() });
  const { body } = await ask(daemon, "hello");
  assert.match(String(body.response), /stand-in/);
});

test("an empty config file is named with its place, the page comes up closed, and the file is not touched", async () => {
  const home = await tempHome();
  await writeFile(join(home, "config.json"), "");
  await using daemon = await startDaemon({ home });
  const status = await runMaxclaw(["status"], home);
  assert.equal(status.code, 1, status.stdout);
  assert.match(status.stderr, /^maxclaw: .*config\.json cannot be read, line 1, column 1: the file is empty/);
  assert.match(await (await fetch(`${daemon.url}/`)).text(), /<html/);
  // It may have had a token.
  assert.equal((await fetch(`${daemon.url}/api/status`)).status, 401);
  assert.equal(await readFile(join(home, "config.json"), "utf8"), "");
});

test("a misspelt key and a wrong type are named, and the rest of the config counts", async () => {
  const home = await tempHome();
  const config = {
    agents: { defaults: { maxTokenz: 5 } },
    gateway: { port: "many" },
    channels: { telegram: { enabled: "perhaps" } },
  };
  await writeFile(join(home, "config.json"), JSON.stringify(config));
  await using daemon = await startDaemon({ home });
  const told = (await problems(daemon)).join("\n");
  assert.match(told, /maxTokenz.*maxTokens/);
  assert.match(told, /gateway\.port/);
  assert.match(told, /telegram/);
});

test("a config of the Go maxclaw starts unchanged, with its channels", async () => {
  const home = await tempHome();
  const config = await readFile(new URL("../../../../test/fixtures/go-config.json", import.meta.url), "utf8");
  await writeFile(
    join(home, "config.json"),
    config.replaceAll(/"workspace": "[^"]*"/g, `"workspace": "${home}/workspace"`),
  );
  await using daemon = await startDaemon({ home });
  const { channels } = (await (await fetch(`${daemon.url}/api/status`)).json()) as { channels: { name: string }[] };
  assert.ok(channels.some(({ name }) => name === "whatsapp"));
  assert.equal(await daemon.end("SIGTERM"), 0);
  assert.match(await readFile(join(home, "config.json"), "utf8"), /whatsapp/);
});

test("a port that is taken ends with exit code 78 and advice", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? String(address?.port) : "";
  const run = await runMaxclaw(["gateway", "-p", port], await tempHome());
  server.close();
  assert.equal(run.code, 78);
  assert.match(run.stderr, new RegExp(port));
});

test("a workspace that cannot be used ends with exit code 78 and names the folder", async () => {
  const home = await tempHome();
  await writeFile(join(home, "file"), "");
  await writeFile(
    join(home, "config.json"),
    JSON.stringify({ agents: { defaults: { workspace: join(home, "file", "ws") } } }),
  );
  const run = await runMaxclaw(["gateway", "-p", "0"], home);
  assert.equal(run.code, 78);
  assert.match(run.stderr, /\/file cannot be used: it is a file, not a folder/);
});

test("an invalid Telegram token is said plainly in status, and everything else works", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:right" });
  const home = await tempHome();
  const channels = { telegram: { enabled: true, token: "4242:wrong", apiRoot: telegram.url } };
  await writeFile(join(home, "config.json"), JSON.stringify({ channels }));
  await using daemon = await startDaemon({ home });
  let state: { readonly state?: string; readonly reason?: string } = {};
  for (const end = Date.now() + 8000; state.state !== "disconnected" && Date.now() < end; ) {
    const status = (await (await fetch(`${daemon.url}/api/status`)).json()) as { readonly channels: (typeof state)[] };
    state = status.channels[0] ?? {};
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(state.state, "disconnected");
  assert.match(state.reason ?? "", /token/);
  assert.doesNotMatch(state.reason ?? "", /4242:wrong/);
  assert.equal((await ask(daemon, "hello")).status, 200);
});

test("a message of a megabyte is taken, an empty one and a larger one are refused", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "long" } });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  await using daemon = await startDaemon({ home });
  assert.equal((await ask(daemon, "x".repeat(1_000_000))).body.response, "long");
  assert.equal((await ask(daemon, "  ")).status, 400);
  assert.equal((await ask(daemon, "x".repeat(1_100_000))).status, 413);
  assert.equal((await ask(daemon, "and on")).body.response, "long");
});

const skip = withoutSmallDisk();

test("a full disk refuses new messages, loses no accepted one, and the gateway goes on when there is room", {
  skip,
}, async () => {
  const home = await tempHome();
  const small = join(home, "small");
  mkdirSync(small);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", small]);
  try {
    await using model = await startFakeOpenAI({ answer: { text: "ok" } });
    await writeFile(join(small, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
    await using daemon = await startDaemon({ home: small });
    assert.equal((await ask(daemon, "before")).status, 200);
    await writeFile(join(small, "ballast"), Buffer.alloc(4_000_000)).catch(() => undefined);
    // A message may still be stored and its answer not: then its request waits until there is room.
    const asked: ReturnType<typeof ask>[] = [];
    let refused: Awaited<ReturnType<typeof ask>> | undefined;
    for (let n = 0; refused === undefined && n < 400; n++) {
      const answer = ask(daemon, `message ${n} ${"y".repeat(2000)}`);
      asked.push(answer);
      const known = await Promise.race([answer, delay(2000, undefined)]);
      if (known?.status !== 200) refused = known;
    }
    assert.equal(refused?.status, 503, JSON.stringify(refused?.body));
    assert.equal((await fetch(`${daemon.url}/ready`)).status, 503);
    const metric = async (): Promise<string> => await (await fetch(`${daemon.url}/metrics`)).text();
    assert.match(await metric(), /^maxclaw_ready 0$/m);
    assert.match((await problems(daemon)).join("\n"), /disk/i);
    execFileSync("rm", [join(small, "ballast")]);
    let ready = 503;
    for (const end = Date.now() + 8000; ready !== 200 && Date.now() < end; ) {
      ready = (await fetch(`${daemon.url}/ready`)).status;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.match(await metric(), /^maxclaw_ready 1$/m);
    assert.equal((await ask(daemon, "after")).status, 200);
    for (const { status, body } of await Promise.all(asked))
      assert.ok(status === 200 || body.code === "PERSISTENCE_FAILED", JSON.stringify(body));
    await daemon.end("SIGKILL");
    const ledger = await runMaxclaw(["ledger", "check", "--json"], small);
    assert.equal(ledger.code, 0, ledger.stdout);
  } finally {
    execFileSync("umount", ["-l", small]);
  }
});

test("a journal that is damaged in the middle is refused with what to do, and repair keeps the rest", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  {
    await using daemon = await startDaemon({ home });
    for (const text of ["one", "two", "three"]) await ask(daemon, text);
    await daemon.end("SIGKILL");
  }
  const [name = ""] = await readdir(join(home, "journal"));
  const path = join(home, "journal", name);
  const bytes = await readFile(path);
  const middle = bytes.indexOf("\n", Math.floor(bytes.length / 3)) + 20;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await writeFile(path, bytes);
  const refused = await runMaxclaw(["gateway", "-p", "0"], home);
  assert.equal(refused.code, 65);
  assert.match(refused.stderr, /maxclaw repair/);
  const repaired = await runMaxclaw(["journal", "repair"], home);
  assert.equal(repaired.code, 0, repaired.stderr);
  assert.match(repaired.stdout, /damaged/);
  await using daemon = await startDaemon({ home });
  const after = await ask(daemon, "four");
  assert.equal(after.status, 200, JSON.stringify(after.body));
});

test("a journal that was cut in its last line starts, and every whole line counts", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  {
    await using daemon = await startDaemon({ home });
    await ask(daemon, "one");
    await daemon.end("SIGKILL");
  }
  const [name = ""] = await readdir(join(home, "journal"));
  const path = join(home, "journal", name);
  await writeFile(path, `${await readFile(path, "utf8")}1234abcd {"half a li`);
  await using daemon = await startDaemon({ home });
  assert.equal((await ask(daemon, "two")).status, 200);
  const document = (await (await fetch(`${daemon.url}/api/sessions/webui%3Abad`)).json()) as {
    messages: { content: string }[];
  };
  assert.deepEqual(
    document.messages.map((message) => message.content),
    ["one", "ok", "two", "ok"],
  );
});

test("a model that never answers can be stopped, and the connection to it is closed", async () => {
  await using model = await startFakeOpenAI({ answer: { hang: "start" } });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  await using daemon = await startDaemon({ home });
  const asked = ask(daemon, "hello");
  await model.waitForRequests(1);
  const stop = await fetch(`${daemon.url}/api/sessions/webui%3Abad/stop`, { method: "POST" });
  assert.equal(stop.status, 200);
  assert.equal((await asked).body.end, "cancelled");
  assert.equal(await model.requests[0]?.closedEarly, true);
});

test("a home with many sessions is ready without looking at them", async () => {
  const home = await tempHome();
  const sessions = join(home, "workspace", ".sessions");
  await mkdir(sessions, { recursive: true });
  for (let n = 0; n < 2000; n++) await writeFile(join(sessions, `webui_${n}.json`), "{not even JSON");
  // Reading any of them would fail loudly: none can be read.
  await using daemon = await startDaemon({ home });
  assert.doesNotMatch(daemon.stderr(), /not JSON|broken|set aside/);
  assert.equal((await ask(daemon, "hello")).status, 200);
  chmodSync(sessions, 0o700);
});

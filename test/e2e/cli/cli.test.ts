import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { finish, openCli, outputOf } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";
import { openAIConfig } from "../../support/worlds/gateway.js";

describe("maxclaw gateway", () => {
  it("says READY on stdout and nothing else there, answers, and ends with 0 on SIGTERM", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "hi" }, { gatway: {} });
    const { child, result, url } = await startCliGateway(cli);
    assert.equal((await fetch(`${url}/health`)).status, 200);
    child.kill("SIGTERM");
    const { code, stdout, stderr } = await result;
    assert.equal(code, 0);
    assert.match(stdout, /^READY:127\.0\.0\.1:\d+\n$/);
    assert.match(stderr, new RegExp(`Web page: ${url}/`));
    assert.match(stderr, /Model: .*test-model/);
    assert.match(stderr, /"gatway" is ignored; did you mean "gateway"/);
    assert.match(await readFile(join(cli.home, "logs", "gateway.log"), "utf8"), /"message":"stopped"/);
  });

  it("ends at once on a second signal", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "slow", delayMs: 60_000 });
    const { child, result, url } = await startCliGateway(cli);
    const body = JSON.stringify({ sessionKey: "cli:x", channel: "cli", content: "hello", stream: true });
    const asked = await fetch(`${url}/api/message`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    const reading = asked.text().catch(() => "");
    child.kill("SIGTERM");
    await outputOf(child.stderr, /stopping/);
    child.kill("SIGTERM");
    assert.equal((await result).code, 143);
    await reading;
  });

  it("refuses a home that another gateway holds, naming its process and address", async () => {
    await using cli = await openCli();
    const first = await startCliGateway(cli);
    const second = await cli.run(["gateway", "-p", "0"]);
    assert.equal(second.code, 1);
    assert.ok(second.stderr.includes(String(first.child.pid)), second.stderr);
    assert.ok(second.stderr.includes(`127.0.0.1:${first.port}`), second.stderr);
    assert.equal(second.stdout, "");
  });

  it("ends with 78 and advice when its port is taken", async () => {
    await using cli = await openCli();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    try {
      const { code, stderr } = await cli.run(["gateway", "-p", String(port)]);
      assert.equal(code, 78);
      assert.match(stderr, new RegExp(`Port ${port} is taken.*-p.*gateway\\.port`));
    } finally {
      other.close();
    }
  });

  it("refuses an open address without a token when it is asked for, and keeps to loopback when it was saved", async () => {
    await using cli = await openCli();
    const asked = await cli.run(["gateway", "--host", "0.0.0.0", "-p", "0"]);
    assert.equal(asked.code, 78);
    assert.match(asked.stderr, /token/);
    await writeFile(join(cli.home, "config.json"), JSON.stringify({ gateway: { host: "0.0.0.0", port: 0 } }));
    const { child, result, url } = await startCliGateway(cli, []);
    assert.equal((await fetch(`${url}/health`)).status, 200);
    child.kill("SIGINT");
    const { code, stderr } = await result;
    assert.equal(code, 0);
    assert.match(stderr, /gateway\.token is not set/);
  });

  it("comes up with the page alone when its config cannot be read, and leaves the file as it is", async () => {
    await using cli = await openCli();
    await mkdir(cli.home);
    const broken = '{"gateway": {"port": 0},\n "channels": {"telegram": {"enabled": true, "token": "1:abc"}}';
    await writeFile(join(cli.home, "config.json"), broken);
    const { url, child, result } = await startCliGateway(cli);
    const status = await (await fetch(`${url}/api/status`)).text();
    assert.match(status, /config\.json cannot be read, line 2, column \d+/);
    child.kill("SIGTERM");
    assert.equal((await result).code, 0);
    assert.equal(await readFile(join(cli.home, "config.json"), "utf8"), broken);
  });
});

describe("maxclaw agent", () => {
  it("prints the answer and nothing else, with a gateway of its own", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: ["The ans", "wer."] });
    const flag = await cli.run(["agent", "-m", "question"]);
    assert.deepEqual(flag, { code: 0, stdout: "The answer.\n", stderr: "" });
    const pipe = await cli.run(["agent"], { stdin: "question from a pipe\n" });
    assert.deepEqual(pipe, { code: 0, stdout: "The answer.\n", stderr: "" });
  });

  it("asks the gateway that runs, also with a token, and goes on with the same session", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "Yes." }, { gateway: { port: 0, token: "a-token-of-ours" } });
    await startCliGateway(cli, []);
    assert.equal((await cli.run(["agent", "-m", "first", "-s", "work"])).stdout, "Yes.\n");
    assert.equal((await cli.run(["agent", "-m", "second", "-s", "cli:work"])).stdout, "Yes.\n");
    const { sessions } = JSON.parse((await cli.run(["sessions", "list", "--json"])).stdout);
    assert.equal(sessions.length, 1);
    assert.equal(sessions[0].key, "cli:work");
    const wrong = await cli.run(["agent", "-m", "x"], { env: { MAXCLAW_TOKEN: "wrong" } });
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /token/i);
  });

  it("gives a failure as a sentence on stderr, with exit code 1", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { status: 401, body: { error: { message: "bad key" } } });
    const { code, stdout, stderr } = await cli.run(["agent", "-m", "question"]);
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(stderr, /^maxclaw: \S/);
    assert.ok(!stderr.includes("sk-test-key"));
  });

  it("stops the answer on Ctrl+C", async () => {
    await using cli = await openCli();
    await using model = await withModel(cli, { text: ["begin", "more"], hang: "middle" });
    const child = cli.start(["agent", "-m", "question"]);
    const result = finish(child);
    for (const end = Date.now() + 10_000; model.requests.length === 0 && Date.now() < end; )
      await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGINT");
    assert.equal((await result).code, 130);
  });

  it("waits for a gateway that is killed in the middle, and gets its answer from the next one", async () => {
    await using cli = await openCli();
    let calls = 0;
    await using model = await startFakeOpenAI({
      answer: () => (calls++ === 0 ? { text: ["half of ", "it"], hang: "middle" } : { text: "all of it" }),
    });
    await mkdir(cli.home);
    await writeFile(join(cli.home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
    const first = await startCliGateway(cli);
    const asking = finish(cli.start(["agent", "-m", "question"]));
    for (const end = Date.now() + 10_000; calls === 0 && Date.now() < end; )
      await new Promise((resolve) => setTimeout(resolve, 20));
    first.child.kill("SIGKILL");
    await first.result;
    await startCliGateway(cli);
    const { code, stdout, stderr } = await asking;
    assert.deepEqual([code, stdout], [0, "all of it\n"]);
    assert.match(stderr, /your message is stored\. Waiting up to a minute for it to come back/);
    const ledger = JSON.parse((await cli.run(["ledger", "check", "--json"])).stdout);
    assert.equal(ledger.ok, true);
    assert.equal(ledger.entries.length, 1);
  });
});

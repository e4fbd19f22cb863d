import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { openCli } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";
import { openAIConfig } from "../../support/worlds/gateway.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";

interface Result {
  readonly check: string;
  readonly level: string;
  readonly found: string;
  readonly todo?: string;
  readonly fixed?: string;
}
interface Report {
  readonly ok: boolean;
  readonly findings: readonly Result[];
  readonly security: { readonly score: number; readonly findings: readonly Result[] };
}

const reportOf = (stdout: string): Report => JSON.parse(stdout);
const of = ({ findings, security }: Report, check: string): readonly string[] =>
  [...findings, ...security.findings]
    .filter((one) => one.check === check)
    .map(({ level, found }) => `${level}: ${found}`);

/** Names, sizes, modes and times of everything below a folder. */
function tree(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const { size, mode, mtimeMs } = statSync(join(folder, name));
      return `${name} ${size} ${mode} ${mtimeMs}`;
    });
}

/** Takes each request, and answers none. */
async function startSilence() {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("maxclaw doctor", () => {
  test("beside a gateway that runs: all that works is ok, nothing is stopped, and a change that waits is named", async () => {
    await using telegram = await startFakeTelegram({ token: "4242:test" });
    await using cli = await openCli();
    const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url } };
    await using _model = await withModel(cli, { text: "ok" }, { channels });
    const gateway = await startCliGateway(cli);
    assert.equal((await cli.run(["agent", "-m", "hello"])).code, 0);

    const { code, stdout, stderr } = await cli.run(["doctor", "--json"]);
    const report = reportOf(stdout);
    assert.deepEqual([code, report.ok, stderr], [0, true, ""], stdout);
    assert.match(
      of(report, "gateway").join(),
      new RegExp(`^ok: The gateway runs \\(pid ${gateway.child.pid}, 127\\.0\\.0\\.1:${gateway.port}\\)`),
    );
    assert.deepEqual(of(report, "channels"), ["ok: telegram lets us in"]);
    assert.match(of(report, "stored").join(), /^ok: Nothing is damaged: [1-9]\d* sessions?, [1-9]\d* events$/);
    assert.match(of(report, "disk").join(), /ok: The disk keeps a message in \d/);
    assert.equal(gateway.child.exitCode, null, "it still runs");
    assert.equal((await cli.run(["agent", "-m", "hello again"])).code, 0, "and answers");

    const path = join(cli.home, "config.json");
    const config = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...config, events: { snapshotTtlSeconds: 7 } }));
    const text = (await cli.run(["doctor", "--offline"])).stdout;
    assert.match(
      text,
      /^warn {2}gateway {6}The gateway does not have yet what the config file says about events\.snapshotTtlSeconds\n +To do: Restart the gateway$/m,
    );
    // What was set before is still due, and a restart now would do without what is wrong.
    const wrong = { ...config, events: { snapshotTtlSeconds: 7 }, log: { level: "loud" } };
    writeFileSync(path, JSON.stringify(wrong));
    await until("doctor says what comes first", async () =>
      /about events\.snapshotTtlSeconds\n +To do: Correct the config first, then restart the gateway$/m.test(
        (await cli.run(["doctor", "--offline"])).stdout,
      ),
    );
    gateway.child.kill("SIGTERM");
    assert.equal((await gateway.result).code, 0);
  });

  test("finds what is wrong everywhere at once, in time, says no secret and changes nothing", async () => {
    await using silence = await startSilence();
    await using telegram = await startFakeTelegram({ token: "4242:test" });
    await using cli = await openCli();
    mkdirSync(cli.home, { mode: 0o755, recursive: true });
    chmodSync(cli.home, 0o755);
    const keys = ["sk-secret-of-openai-0123456789", "987654:wrong-token-of-telegram-0123456789", "pw-of-the-mail-box"];
    const { port } = new URL(silence.address);
    const config = {
      providers: { openai: { apiKey: keys[0], apiBase: `${silence.address}/v1` } },
      gateway: { port: Number(port) },
      channels: {
        telegram: { enabled: true, token: keys[1], apiRoot: telegram.url, allowFrom: ["*"] },
        email: {
          ...{
            enabled: true,
            consentGranted: true,
            imapHost: "127.0.0.1",
            imapPort: 9,
            imapUsername: "a@b.c",
            imapPassword: keys[2],
          },
          ...{ smtpHost: "127.0.0.1", smtpPort: 9, smtpUsername: "a@b.c", smtpPassword: keys[2] },
        },
      },
      tools: { mcpServers: { gone: { command: "/nowhere/server" } }, browser: { executablePath: "/nowhere/chromium" } },
      unknown: 1,
    };
    writeFileSync(join(cli.home, "config.json"), JSON.stringify(config), { mode: 0o644 });
    const before = tree(cli.home);
    const { code, stdout, stderr } = await cli.run(["doctor", "--json"]);
    assert.equal(code, 1, stderr);
    const report = reportOf(stdout);
    for (const [check, says] of [
      ["providers", /^fail: (openai does not answer: .*no answer within 10 s|This could not be checked)/],
      ["channels", /fail: Telegram does not know this bot token \((401|404)\)/],
      ["channels", /fail: The IMAP server \S+ cannot be reached: /],
      ["MCP", /^fail: gone: /],
      ["browser", /^fail: There is no \/nowhere\/chromium$/],
      ["ports", /^fail: 127\.0\.0\.1:\d+ \(gateway\.port\) is taken by another program/],
      ["config", /warn: unknown key "unknown" is ignored/],
      ["permissions", /fail: Others on this machine can look into/],
      ["people", /fail: channels\.telegram\.allowFrom/],
      ["backups", /^warn: There is no backup$/],
    ] as const)
      assert.match(of(report, check).join("\n"), says);
    for (const secret of keys) assert.ok(!`${stdout}${stderr}`.includes(secret), secret);
    for (const { level, todo, check } of report.findings) assert.ok(level !== "fail" || todo !== undefined, check);
    assert.deepEqual(tree(cli.home), before);
  });

  test("puts right with --fix what it can, and leaves the rest", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "ok" });
    const gateway = await startCliGateway(cli);
    gateway.child.kill("SIGKILL");
    await gateway.result;
    chmodSync(cli.home, 0o755);
    const before = reportOf((await cli.run(["doctor", "--offline", "--json"])).stdout);
    assert.match(of(before, "locks").join(), /^warn: A gateway that was killed has left its lock/);
    assert.match(of(before, "permissions").join(), /^fail: /);
    assert.ok(existsSync(join(cli.home, "gateway.lock")));
    const fixed = await cli.run(["doctor", "--offline", "--fix"]);
    assert.match(fixed.stdout, /^done {2}permissions .*\n +Done: chmod 700/m);
    assert.match(fixed.stdout, /^done {2}locks /m);
    assert.equal(statSync(cli.home).mode & 0o777, 0o700);
    assert.ok(!existsSync(join(cli.home, "gateway.lock")));
    assert.equal((await cli.run(["doctor", "--offline"])).code, 0);
  });

  test("ends in findings for a home that is not there, one that is a file, and a config that cannot be read", async () => {
    await using cli = await openCli();
    const none = await cli.run(["doctor", "--json", "--offline"]);
    assert.deepEqual(of(reportOf(none.stdout), "home"), [`warn: There is no home ${cli.home} yet`]);
    assert.ok(!existsSync(cli.home), "it is not made");
    writeFileSync(cli.home, "");
    const file = await cli.run(["doctor", "--json", "--offline"]);
    assert.deepEqual(
      [file.code, of(reportOf(file.stdout), "home")],
      [1, [`fail: The home ${cli.home} is not a folder`]],
      file.stderr,
    );
    await using broken = await openCli();
    mkdirSync(broken.home, { mode: 0o700 });
    writeFileSync(join(broken.home, "config.json"), '{ "providers": ', { mode: 0o600 });
    const { code, stdout } = await broken.run(["doctor", "--offline"]);
    assert.equal(code, 1);
    assert.match(stdout, /^fail {2}config {7}.*config\.json cannot be read, line 1, column \d+/m);
  });

  test("ends in a finding for a home that is read-only", { skip: withoutSmallDisk() }, async () => {
    await using cli = await openCli();
    mkdirSync(cli.home, { mode: 0o700 });
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro,size=64k,mode=700", "maxclaw-test", cli.home]);
    try {
      const { code, stdout, stderr } = await cli.run(["doctor", "--json"]);
      assert.equal(code, 1, stderr);
      assert.match(
        of(reportOf(stdout), "home").join(),
        /^fail: The home .* cannot be written to: its disk is mounted read-only/,
      );
      const fixed = await cli.run(["doctor", "--json", "--fix", "--offline"]);
      assert.equal(fixed.code, 1, fixed.stderr);
    } finally {
      execFileSync("umount", ["-l", cli.home]);
    }
  });

  test("a gateway that hangs is a finding, and is left alone", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "ok" });
    const gateway = await startCliGateway(cli);
    gateway.child.kill("SIGSTOP");
    const { code, stdout } = await cli.run(["doctor", "--json", "--offline"]);
    const report = reportOf(stdout);
    assert.equal(code, 1);
    assert.equal(of(report, "gateway").length, 1);
    assert.match(
      of(report, "gateway").join(),
      /does not answer: the process is stopped\. Let it go on with: kill -CONT/,
    );
    assert.match(of(report, "stored").join(), /^warn: Journal and logs were not looked at/);
    gateway.child.kill("SIGCONT");
    gateway.child.kill("SIGTERM");
    assert.equal((await gateway.result).code, 0, "it was only asked");
  });

  test("asks the model with --model only", async () => {
    await using cli = await openCli();
    await using model = await withModel(cli, { text: "ok" });
    const answers = () => model.requests.filter(({ method }) => method === "POST").length;
    assert.equal((await cli.run(["doctor", "--json"])).code, 0);
    assert.equal(answers(), 0);
    const { stdout } = await cli.run(["doctor", "--json", "--model"]);
    assert.match(of(reportOf(stdout), "model").join(), /^ok: openai\/test-model answered "ok" in \d+ ms$/);
    assert.equal(answers(), 1);
    await using refusing = await startFakeOpenAI({
      answer: { status: 402, body: { error: { message: "no credit" } } },
    });
    writeFileSync(join(cli.home, "config.json"), JSON.stringify(openAIConfig(refusing.apiBase)), { mode: 0o600 });
    const refused = await cli.run(["doctor", "--json", "--model"]);
    assert.equal(refused.code, 1);
    assert.match(of(reportOf(refused.stdout), "model").join(), /^fail: openai\/test-model does not answer: /);
  });

  test("knows the backup that was made last, wherever it was put", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "ok" });
    const file = join(cli.home, "..", "elsewhere.tgz");
    assert.equal((await cli.run(["backup", file])).code, 0);
    const { stdout } = await cli.run(["doctor", "--json", "--offline"]);
    assert.match(of(reportOf(stdout), "backups").join(), /^ok: The newest backup is of today: .*elsewhere\.tgz$/);
  });
});

test("maxclaw security shows its findings and a score, and ends with 1 for a failure", async () => {
  await using cli = await openCli();
  await using _model = await withModel(cli, { text: "ok" });
  chmodSync(cli.home, 0o700);
  const calm = await cli.run(["security", "--json"]);
  assert.equal(calm.code, 0, calm.stdout);
  await using _other = await withModel(cli, { text: "ok" }, { gateway: { allowedOrigins: ["*"] } });
  const { code, stdout } = await cli.run(["security"]);
  assert.equal(code, 1);
  assert.match(stdout, /^fail {2}access {7}gateway\.allowedOrigins.*\n +To do: /m);
  const score = Number(/^Security: (\d+) of 100\./m.exec(stdout)?.[1]);
  assert.equal(score, JSON.parse(calm.stdout).score - 20);
});

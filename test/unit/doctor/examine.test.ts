import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { configOf } from "../../../src/config/load.js";
import type { Check, World } from "../../../src/doctor/check.js";
import { backupsCheck } from "../../../src/doctor/checks/home/backups.js";
import { nodeCheck, nodeFinding } from "../../../src/doctor/checks/machine/node.js";
import { portsCheck } from "../../../src/doctor/checks/machine/ports.js";
import { serviceCheck } from "../../../src/doctor/checks/machine/service.js";
import { clockCheck } from "../../../src/doctor/checks/reach/clock.js";
import { gatewayCheck } from "../../../src/doctor/checks/reach/gateway.js";
import { providersCheck } from "../../../src/doctor/checks/reach/providers.js";
import { runChecks } from "../../../src/doctor/examine.js";
import { ProviderAnswers } from "../../../src/doctor/provider-answers.js";
import { machineCheck } from "../../../src/doctor/security/machine.js";
import { lastBackupName } from "../../../src/offline/last-backup.js";

const key = "sk-very-secret-key-0123456789";

async function worldOf(config: Parameters<typeof configOf>[0], more: Partial<World> = {}): Promise<World> {
  const home = mkdtempSync(join(tmpdir(), "maxclaw-doctor-"));
  const loaded = await configOf(config, { home, env: { HOME: home } });
  const now = more.now ?? Date.now;
  return {
    ...{ home, loaded, version: "0", gateway: { state: "none" }, env: {}, asksModel: false, now },
    examine: async () => {
      throw new Error("not asked for");
    },
    providers: new ProviderAnswers(loaded.config.providers, now),
    service: async () => undefined,
    backupFolders: [],
    ...more,
  };
}

async function run(check: Check, world: World): Promise<readonly string[]> {
  const found = await runChecks([check], world, { fix: false, signal: new AbortController().signal });
  return found.map(({ level, found: text }) => `${level}: ${text}`);
}

/** A provider that answers as told, or never. */
async function startProvider(answer: { status: number; body: string; date?: string } | undefined) {
  const server = createServer((_request, response) => {
    if (answer === undefined) return;
    if (answer.date !== undefined) response.setHeader("date", answer.date);
    response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    providers: { openai: { apiKey: key, apiBase: `http://127.0.0.1:${port}/v1` } },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const models = JSON.stringify({ data: [{ id: "gpt-x" }] });

describe("a check", () => {
  const world = worldOf({});

  test("that hangs, or fails, is a finding; the others are not held up", async () => {
    const hangs: Check = { name: "hangs", limitMs: 50, run: () => new Promise(() => {}) };
    const fails: Check = { name: "fails", run: async () => Promise.reject(new Error("the disk is gone")) };
    const full: Check = {
      name: "full",
      run: async () => Promise.reject(Object.assign(new Error("ENOSPC: no space left, write"), { code: "ENOSPC" })),
    };
    const well: Check = { name: "well", run: async () => [{ level: "ok", found: "well" }] };
    const options = { fix: false, signal: new AbortController().signal };
    assert.deepEqual(
      (await runChecks([hangs, fails, full, well], await world, options)).map(
        ({ level, found }) => `${level}: ${found}`,
      ),
      [
        "fail: This could not be checked: no answer within 0.05 s",
        "fail: This could not be checked: the disk is gone",
        "fail: This could not be checked: the disk is full",
        "ok: well",
      ],
    );
  });

  test("says no secret, and the result of its remedy", async () => {
    const secret = await worldOf({ gateway: { token: "tok-0123456789abcdef" } });
    const cured: string[] = [];
    const check = (apply: () => Promise<void>): Check => ({
      name: "leaks",
      run: async () => [
        {
          level: "fail",
          found: "it said tok-0123456789abcdef",
          todo: "not tok-0123456789abcdef",
          fix: { does: "mended", apply },
        },
      ],
    });
    const cure = check(async () => void cured.push("once"));
    const signal = new AbortController().signal;
    assert.deepEqual(await runChecks([cure], secret, { fix: false, signal }), [
      { check: "leaks", level: "fail", found: "it said ***", todo: "not ***", isFixable: true },
    ]);
    assert.deepEqual(cured, []);
    assert.deepEqual(await runChecks([cure], secret, { fix: true, signal }), [
      { check: "leaks", level: "ok", found: "it said ***", fixed: "mended" },
    ]);
    const refused = check(async () => Promise.reject(new Error("EROFS")));
    const [still] = await runChecks([refused], secret, { fix: true, signal });
    assert.deepEqual([still?.level, still?.fixed, still?.todo], ["fail", "mended failed: EROFS", "not ***"]);
  });
});

describe("providers and the clock", () => {
  test("a key that is taken, and one that is refused", async () => {
    await using good = await startProvider({ status: 200, body: models });
    const config = { providers: good.providers, agents: { defaults: { model: "openai/gpt-x" } } };
    assert.deepEqual(await run(providersCheck, await worldOf(config)), ["ok: openai takes the key and lists 1 model"]);
    const mine = { providers: { mine: { apiBase: good.providers.openai?.apiBase } } };
    assert.deepEqual(await run(providersCheck, await worldOf(mine)), ["ok: mine answers and lists 1 model"]);
    const other = { ...config, agents: { defaults: { model: "openai/gpt-y" } } };
    assert.match(
      (await run(providersCheck, await worldOf(other))).join(),
      /^warn: openai takes the key, but does not list the model gpt-y/,
    );
    await using bad = await startProvider({ status: 401, body: `{"error":"Incorrect API key provided: ${key}"}` });
    const [refused = ""] = await run(providersCheck, await worldOf({ providers: bad.providers }));
    assert.match(refused, /^fail: openai refuses the key: .*401.*\*\*\*/);
    assert.ok(!refused.includes(key));
    await using odd = await startProvider({ status: 404, body: "no such page" });
    assert.match(
      (await run(providersCheck, await worldOf({ providers: odd.providers }))).join(),
      /^warn: openai answers, but its key could not be tried/,
    );
  });

  test("one that does not answer, or answers never, is found out in time", async () => {
    const gone = await startProvider({ status: 200, body: models });
    await gone[Symbol.asyncDispose]();
    assert.match(
      (await run(providersCheck, await worldOf({ providers: gone.providers }))).join(),
      /^fail: openai does not answer: /,
    );
    await using silent = await startProvider(undefined);
    const quick = { ...providersCheck, limitMs: 100 };
    assert.deepEqual(await run(quick, await worldOf({ providers: silent.providers })), [
      "fail: This could not be checked: no answer within 0.1 s",
    ]);
  });

  test("a clock that is wrong is told by the provider's", async () => {
    const at = Date.parse("2026-11-22T12:00:00Z");
    const skewed = async (date: number): Promise<string> => {
      await using provider = await startProvider({ status: 401, body: "{}", date: new Date(date).toUTCString() });
      return (await run(clockCheck, await worldOf({ providers: provider.providers }, { now: () => at }))).join();
    };
    assert.match(await skewed(at), /^ok: The clock agrees with that of openai$/);
    assert.match(await skewed(at + 120_000), /^warn: This machine's clock is 12\d s behind that of openai$/);
    assert.match(await skewed(at - 86_400_000), /^fail: This machine's clock is 86\d{3} s ahead of that of openai$/);
    assert.deepEqual(await run(clockCheck, await worldOf({})), [
      "ok: The clock was not compared: no provider told the time",
    ]);
    const old = await worldOf({}, { now: () => Date.parse("1970-01-02") });
    assert.match((await run(clockCheck, old)).join(), /^fail: This machine says that it is 1970-01-02/);
  });
});

test("Node is too old, out of care, or well", () => {
  const at = Date.parse("2026-11-22");
  assert.equal(nodeFinding("18.20.0", at).level, "fail");
  assert.equal(nodeFinding("20.18.9", at).level, "fail");
  assert.equal(nodeFinding("20.20.2", at).level, "warn");
  assert.equal(nodeFinding("20.20.2", Date.parse("2026-01-01")).level, "ok");
  assert.equal(nodeFinding("24.1.0", at).level, "ok");
});

test("a Node without security fixes is found once, as a matter of security", async () => {
  const world = await worldOf({}, { now: () => Date.parse("2040-01-01") });
  const about = (found: readonly string[]) => found.filter((text) => text.includes("has had no security fixes"));
  assert.deepEqual(about(await run(nodeCheck, world)), []);
  assert.equal(about(await run(machineCheck, world)).length, 1);
});

test("ports that are free, taken, or ours", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const config = { gateway: { port } };
  assert.match(
    (await run(portsCheck, await worldOf(config))).join(),
    /^fail: 127\.0\.0\.1:\d+ \(gateway\.port\) is taken by another program$/,
  );
  const gateway = {
    state: "running",
    pid: 1,
    address: `127.0.0.1:${port}`,
    version: "0",
    problems: [],
    pending: [],
  } as const;
  assert.match((await run(portsCheck, await worldOf(config, { gateway }))).join(), /^ok: The gateway listens on/);
  await new Promise((resolve) => server.close(resolve));
  assert.match((await run(portsCheck, await worldOf(config))).join(), /^ok: .* is free$/);
  const far = {
    channels: { websocket: { enabled: true, host: "203.0.113.9", port: 1, token: "0123456789abcdefg" } },
    gateway: { port: 0 },
  };
  assert.match(
    (await run(portsCheck, await worldOf(far))).join(),
    /^fail: 203\.0\.113\.9:1 \(channels\.websocket\.port\) cannot be listened on/,
  );
});

test("backups: none, one of today, an old one, one that the home remembers", async () => {
  const world = await worldOf({});
  const folder = join(world.home, "kept");
  mkdirSync(folder);
  const seen = async (): Promise<string> =>
    (await run(backupsCheck, { ...world, backupFolders: [folder, "/nowhere"] })).join();
  assert.equal(await seen(), "warn: There is no backup");
  const file = join(folder, "maxclaw-backup-2026-01-01-000000.tar.gz");
  writeFileSync(file, "");
  assert.equal(await seen(), `ok: The newest backup is of today: ${file}`);
  const old = Date.now() / 1000 - 40 * 86_400;
  utimesSync(file, old, old);
  assert.equal(await seen(), `warn: The newest backup is 40 days old: ${file}`);
  writeFileSync(
    join(world.home, lastBackupName),
    JSON.stringify({ at: new Date().toISOString(), file: "/mnt/usb/x.tar.gz" }),
  );
  assert.equal(await seen(), "ok: The newest backup is of today: /mnt/usb/x.tar.gz");
});

test("a service that names a Node which is gone is told", async () => {
  const service = async () => ({
    line: "Service: active",
    problems: ["The service starts /opt/node, which is not there."],
  });
  assert.deepEqual(await run(serviceCheck, await worldOf({}, { service })), [
    "warn: The service starts /opt/node, which is not there.",
  ]);
});

test("where no service can be, a container is named instead of service install", async () => {
  const impossible = await run(serviceCheck, await worldOf({}, { service: async () => "impossible" }));
  assert.match(impossible.join(), /^ok: There is no systemd or launchd.*container.*maxclaw gateway/);
  assert.doesNotMatch(impossible.join(), /service install/);
  assert.match((await run(serviceCheck, await worldOf({}))).join(), /maxclaw service install/);
  const todo = async (service: World["service"]) => {
    const world = await worldOf({}, { service });
    return (await gatewayCheck.run(world, new AbortController().signal)).map((one) => one.todo).join();
  };
  assert.equal(await todo(async () => "impossible"), "maxclaw gateway");
  assert.match(await todo(async () => ({ line: "", problems: [] })), /maxclaw service start/);
});

import assert from "node:assert/strict";
import { appendFile, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";

const token = "a-token-that-is-long-enough-1";

async function open() {
  const model = await startFakeOpenAI({ answer: { text: "Noted." } });
  const gateway = await startGateway({ config: openAIConfig(model.apiBase, { gateway: { token } }) });
  const base = new URL(gateway.gateway.pageUrl).origin;
  const ask = (path: string, method = "GET", authorization = `Bearer ${token}`): Promise<Response> =>
    fetch(`${base}${path}`, {
      method,
      headers: { authorization, ...(method === "POST" ? { "content-type": "application/json" } : {}) },
      ...(method === "POST" ? { body: "{}" } : {}),
    });
  return {
    ...{ home: gateway.home, gateway, ask },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

test("the system is for who has the token", async () => {
  await using world = await open();
  const paths = ["/api/system", "/api/logs", "/api/logs/stream", "/api/backups", "/api/backups/x", "/api/update"];
  for (const path of paths) assert.equal((await world.ask(path, "GET", "Bearer wrong")).status, 401, path);
  for (const path of ["/api/doctor", "/api/backups"])
    assert.equal((await world.ask(path, "POST", "Bearer wrong")).status, 401, path);
  assert.deepEqual(await readdir(join(world.home, "backups")).catch(() => []), []);
});

test("the log has its last lines, from a level on, without the secrets of the config", async () => {
  await using world = await open();
  const none = z.object({ lines: z.array(z.unknown()) }).parse(await (await world.ask("/api/logs")).json());
  assert.deepEqual(none.lines, [], "a gateway without a log file has no lines");
  await mkdir(join(world.home, "logs"), { recursive: true });
  const lines = [
    { level: "info", time: "2026-11-23T01:00:00.000Z", message: "one" },
    { level: "warn", time: "2026-11-23T01:00:01.000Z", message: `two ${token}`, key: { inner: "sk-test-key" } },
    { level: "error", time: "2026-11-23T01:00:02.000Z", message: "three" },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  await appendFile(join(world.home, "logs", "gateway.log"), text);
  const answer = await world.ask("/api/logs?level=warn&lines=2");
  assert.deepEqual(await answer.json(), {
    lines: [
      { level: "warn", time: "2026-11-23T01:00:01.000Z", message: "two ***", fields: { key: { inner: "***" } } },
      { level: "error", time: "2026-11-23T01:00:02.000Z", message: "three", fields: {} },
    ],
  });
  for (const wrong of ["level=loud", "lines=-1", "lines=many"])
    assert.equal((await world.ask(`/api/logs?${wrong}`)).status, 400, wrong);
});

test("only backups without keys are listed and downloaded, and one is made at a time", async () => {
  await using world = await open();
  await world.gateway.ask("hello");
  const folder = join(world.home, "backups", "page");
  await mkdir(folder, { recursive: true });
  await writeFile(join(world.home, "backups", "maxclaw-backup-1.tar.gz"), "of an update, with keys");
  await symlink(join(world.home, "config.json"), join(folder, "maxclaw-backup-2.tar.gz"));
  const [first, second] = await Promise.all([world.ask("/api/backups", "POST"), world.ask("/api/backups", "POST")]);
  const statuses = [first.status, second.status].sort();
  assert.deepEqual(statuses, [200, 409]);
  const made = z
    .object({ name: z.string(), bytes: z.number() })
    .parse(await (first.status === 200 ? first : second).json());
  const download = await world.ask(`/api/backups/${made.name}`);
  assert.equal(download.status, 200);
  assert.match(download.headers.get("content-disposition") ?? "", /^attachment;/);
  assert.equal((await download.arrayBuffer()).byteLength, made.bytes);
  assert.equal((await stat(join(folder, made.name))).mode & 0o777, 0o600);
  for (const name of ["maxclaw-backup-1.tar.gz", "maxclaw-backup-2.tar.gz", "..%2Fmaxclaw-backup-1.tar.gz"])
    assert.equal((await world.ask(`/api/backups/${name}`)).status, 404, name);
  const { backups } = z
    .object({ backups: z.array(z.object({ name: z.string() })) })
    .parse(await (await world.ask("/api/backups")).json());
  assert.deepEqual(
    backups.map(({ name }) => name),
    [made.name],
  );
});

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { openCli } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";
import { goHome, nanobotHome, openclawHome, snapshot, writeFiles } from "../../support/worlds/old-homes.js";

test("after migrate a gateway shows the old sessions, remembers what was remembered and has the jobs, once", async () => {
  await using cli = await openCli();
  let seen = "";
  await using _model = await withModel(cli, (request) => {
    seen = JSON.stringify(request);
    return { text: "Hello again." };
  });
  const homedir = dirname(cli.home);
  const { "config.json": goConfig, ...goFiles } = goHome;
  // Its bot would be asked for at the real Telegram.
  const config = { ...goConfig, channels: { mattermost: { enabled: true } } };
  const { "config.json": _nano, ...nanobotFiles } = nanobotHome;
  const { "openclaw.json": _claw, ...openclawFiles } = openclawHome;
  await writeFiles(join(homedir, ".maxclaw"), { ...goFiles, "config.json": config });
  await writeFiles(join(homedir, ".nanobot"), nanobotFiles);
  await writeFiles(join(homedir, "old-claw"), { ...openclawFiles, "openclaw.json": "{}" });

  const before = await snapshot(homedir);
  const dry = await cli.run(["migrate"]);
  assert.equal(dry.code, 0, dry.stderr);
  assert.match(dry.stdout, /new +telegram:42, 2 messages\n[\s\S]*Nothing was changed\. \d+ would be imported/);
  assert.deepEqual(await snapshot(homedir), before);

  const running = await startCliGateway(cli);
  const refused = await cli.run(["migrate", "--apply"]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, new RegExp(`pid ${running.child.pid}`));
  running.child.kill("SIGTERM");
  await running.result;

  const applied = await cli.run(["migrate", "--apply"]);
  assert.equal(applied.code, 0, applied.stderr);
  assert.match(applied.stdout, /imported +telegram:42, 2 messages/);
  assert.match(applied.stdout, /channels\.mattermost: maxclaw does not have this channel/);
  const claw = await cli.run(["migrate", "--from", join(homedir, "old-claw"), "--apply", "--json"]);
  assert.equal(JSON.parse(claw.stdout).homes[0].kind, "openclaw");

  for (const round of ["first", "second"]) {
    const { child, result, url } = await startCliGateway(cli);
    const get = async (path: string): Promise<string> => await (await fetch(`${url}/api/${path}`)).text();
    const sessions = await get("sessions");
    for (const key of ["telegram:42", "telegram:77", "telegram:99"]) assert.ok(sessions.includes(`"${key}"`), sessions);
    assert.match(await get("sessions/telegram:42/messages"), /My cat is Momo\.[\s\S]*Noted, Momo\./);
    assert.match(await get("sessions/telegram:77/messages"), /My dog is Rex\.[\s\S]*Noted, Rex\./);
    assert.match(await get("sessions/telegram:99/messages"), /My bird is Pip\.[\s\S]*Noted, Pip\./);
    const answer = await cli.run(["agent", "-m", `hello, ${round}`]);
    assert.match(answer.stdout, /Hello again\./);
    for (const known of [/The cat is called Momo/, /The dog is called Rex/, /The bird is called Pip/, /Squeeze/])
      assert.match(seen, known);
    // They are imported besides everything else.
    const giveUpAt = Date.now() + 15_000;
    let jobs = "";
    while (!["tea time", "walk", "feed"].every((name) => jobs.includes(name)) && Date.now() < giveUpAt)
      jobs = await get("cron");
    for (const name of ["tea time", "walk", "feed"]) assert.equal(jobs.split(`"${name}"`).length, 2, jobs);
    child.kill("SIGTERM");
    await result;
    const again = await cli.run(["migrate", "--apply"]);
    assert.match(again.stdout, /^0 imported\./m, again.stdout);
  }
});

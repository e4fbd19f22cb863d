import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { openCli } from "../../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../../support/worlds/cli-gateway.js";

const name = "telegram-work";

test("onboard sets up a further account by its name, and leaves the others as they are", async () => {
  await using family = await startFakeTelegram({ token: "4242:family" });
  await using work = await startFakeTelegram({ token: "4243:work" });
  await using cli = await openCli();
  const channels = { telegram: { enabled: true, token: family.token, apiRoot: family.url } };
  await using _model = await withModel(cli, { text: "ok" }, { channels, owners: ["telegram:42"] });
  const config = () => JSON.parse(readFileSync(join(cli.home, "config.json"), "utf8"));
  await cli.run(["config", "set", `channels.${name}.apiRoot`, work.url]);

  const flags = ["onboard", "--channel", name, "--token-env", "WORK_TOKEN", "--owner", "43", "--no-service"];
  const set = await cli.run(flags, { env: { WORK_TOKEN: work.token } });
  assert.equal(set.code, 0, set.stdout + set.stderr);
  assert.match(set.stdout + set.stderr, /Telegram \(telegram-work\) lets us in/);
  assert.deepEqual(config().channels, {
    ...channels,
    [name]: { apiRoot: work.url, enabled: true, token: `\${WORK_TOKEN}` },
  });
  assert.deepEqual(config().owners, ["telegram:42", `${name}:43`]);
  assert.deepEqual(
    [work.sent.map(({ chatId }) => chatId), family.sent.length],
    [["43"], 0],
    "the test message came from the account that was set up",
  );

  const again = ["onboard", "--channel", "telegram", "--owner", "42", "--no-service", "--yes"];
  assert.equal((await cli.run(again, { env: { WORK_TOKEN: work.token } })).code, 0);
  assert.deepEqual(Object.keys(config().channels), ["telegram", name]);
});

test("doctor tries each account, and channels lists each, by its own name", async () => {
  await using family = await startFakeTelegram({ token: "4242:family" });
  await using work = await startFakeTelegram({ token: "4243:work" });
  await using cli = await openCli();
  const channels = {
    telegram: { enabled: true, token: family.token, apiRoot: family.url },
    [name]: { enabled: true, token: "4243:wrong", apiRoot: work.url, allowFrom: ["*"] },
    "telegram-third": { enabled: true, token: family.token, apiRoot: family.url },
  };
  await using _model = await withModel(cli, { text: "ok" }, { channels });
  const checked = await cli.run(["config", "check"]);
  assert.equal(checked.code, 1);
  assert.match(checked.stdout + checked.stderr, /channels\.telegram-third has the same token as channels\.telegram/);
  await startCliGateway(cli);
  const { findings, security } = JSON.parse((await cli.run(["doctor", "--json"])).stdout);
  const found = [...findings, ...security.findings].map(({ found: text }: { readonly found: string }) => text);
  assert.ok(found.includes("telegram lets us in"), found.join("\n"));
  assert.ok(
    found.some((text) => text.includes(`channels.${name}.token`)),
    found.join("\n"),
  );
  assert.ok(
    found.some((text) => text.startsWith(`channels.${name}.allowFrom is ["*"]`)),
    found.join("\n"),
  );
  assert.ok(!found.some((text) => text.includes("channels.telegram.token is")), found.join("\n"));
  const { stdout } = await cli.run(["channels", "--json"]);
  const states = JSON.parse(stdout).channels.map((one: { readonly name: string }) => one.name);
  assert.deepEqual([...states].sort(), ["telegram", "telegram-third", name].sort());
});

import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { feishuPlatform } from "../../../src/channels/feishu/platform.js";
import { loadConfig } from "../../../src/config/load.js";
import { silentLog } from "../../../src/log.js";
import { startFakeFeishu } from "../../support/fakes/feishu/fake-feishu.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

const openId = "ou_7d8a6e6df7621556ce0d21922b676706";
/** As the Go maxclaw writes a section. */
const written = {
  enabled: true,
  appId: "cli_a1b2c3d4e5f60718",
  appSecret: "secret",
  verificationToken: "verify-me",
  listenAddr: "0.0.0.0:18792",
  webhookPath: "/feishu/events",
  allowFrom: [],
};
const parse = (more: object = {}) => feishuPlatform.section.parse({ ...written, ...more });
const open = (more: object = {}) =>
  feishuPlatform.open(parse(more), {
    context: testContext(),
    home: "/nowhere",
    trustedProxies: () => [],
    log: silentLog,
  });

test("a section of the Go maxclaw starts unchanged, and listens where it listened there", async () => {
  const home = await mkdtemp(join(tmpdir(), "maxclaw-feishu-"));
  await writeFile(join(home, "config.json"), JSON.stringify({ channels: { feishu: written } }), { mode: 0o600 });
  const loaded = await loadConfig({ home, env: {} });
  assert.equal(loaded.config.channels.feishu?.webhookPath, "/feishu/events");
  const section = parse();
  assert.equal(feishuPlatform.lacks?.(section), undefined);
  assert.deepEqual(feishuPlatform.checkup?.listensOn?.(section), { key: "listenAddr", host: "0.0.0.0", port: 18_792 });
  assert.equal((await open()).channel?.name, "feishu");
  assert.equal((await open()).channel?.longestSilenceMs, undefined, "a webhook has no heartbeat");
  assert.equal(feishuPlatform.checkup?.risks?.(section)[0]?.level, "warn", "events are not signed");
  assert.deepEqual(feishuPlatform.checkup?.risks?.(parse({ encryptKey: "x" })), []);
});

test("without an address it connects, and what nobody could check is not listened to", async () => {
  for (const more of [
    { listenAddr: "", verificationToken: "" },
    { receiveBy: "connection", verificationToken: "" },
  ]) {
    assert.equal(feishuPlatform.lacks?.(parse(more)), undefined);
    assert.equal(feishuPlatform.checkup?.listensOn?.(parse(more)), undefined);
    assert.deepEqual(feishuPlatform.checkup?.risks?.(parse(more)), []);
    assert.ok(((await open(more)).channel?.longestSilenceMs ?? 0) > 0);
  }
  assert.match(
    feishuPlatform.lacks?.(parse({ verificationToken: "" })) ?? "",
    /no encryptKey and no verificationToken/,
  );
  assert.deepEqual(await open({ verificationToken: "" }), {});
  assert.match(feishuPlatform.lacks?.(parse({ appId: "" })) ?? "", /no appId/);
  assert.match(feishuPlatform.lacks?.(parse({ appSecret: "" })) ?? "", /no appSecret/);
  assert.equal(feishuPlatform.setUp?.canListen?.(parse()), false);
  assert.equal(feishuPlatform.setUp?.canListen?.(parse({ receiveBy: "connection" })), true);
});

test("a login names the bot, and says what is wrong", async () => {
  await using feishu = await startFakeFeishu();
  const scope = { home: "/nowhere", log: silentLog };
  const signal = AbortSignal.timeout(10_000);
  const logIn = (appSecret: string) =>
    feishuPlatform.logIn?.(parse({ appId: feishu.appId, appSecret, apiRoot: `${feishu.url}/` }), scope, signal);
  assert.equal(await logIn(feishu.appSecret), "小助手");
  await assert.rejects(async () => await logIn("wrong"), /10014.*channels\.feishu\.appSecret/s);
});

test("what OpenClaw and nanobot have of Feishu is taken over", () => {
  const { imports, setUp } = feishuPlatform;
  const secret = (value: unknown) => (value === undefined ? undefined : String(value));
  const theirs = { appId: "cli_1", appSecret: "s", domain: "lark", connectionMode: "webhook", verificationToken: "v" };
  const ours = imports?.fromOpenclaw?.(theirs, secret);
  assert.deepEqual(ours, {
    ...{ appId: "cli_1", appSecret: "s", encryptKey: undefined, verificationToken: "v" },
    ...{ domain: "lark", receiveBy: "webhook" },
  });
  assert.deepEqual(imports?.chatOf?.(openId), [openId]);
  assert.deepEqual(imports?.chatOf?.("oc_5ad11d72b830411d72b836c20", "group"), ["oc_5ad11d72b830411d72b836c20"]);
  assert.deepEqual(imports?.chatOf?.("oc_5ad11d72b830411d72b836c20:topic:om_1a", "group"), [
    "oc_5ad11d72b830411d72b836c20",
    "om_1a",
  ]);
  assert.equal(imports?.chatOf?.("somebody"), undefined);
  assert.equal(imports?.directChatOf?.(`user:${openId}`), openId);
  assert.match(openId, new RegExp(setUp?.person.pattern ?? "$^"));
});

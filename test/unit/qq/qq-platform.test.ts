import assert from "node:assert/strict";
import { test } from "node:test";
import { credentialsOf } from "../../../src/channels/qq/credentials.js";
import { qqPlatform } from "../../../src/channels/qq/platform.js";
import { silentLog } from "../../../src/log.js";
import { startFakeQq } from "../../support/fakes/qq/fake-qq.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

const openid = "E4F4AEA33253A2797FB897C50B81D7ED";
/** As the Go maxclaw writes a section. */
const written = {
  enabled: true,
  appId: "102000001",
  appSecret: "secret",
  wsUrl: "",
  accessToken: "",
  listenAddr: "0.0.0.0:18793",
  webhookPath: "/qq/events",
  allowFrom: [],
};
const parse = (more: object = {}) => qqPlatform.section.parse({ ...written, ...more });
const open = (more: object = {}) =>
  qqPlatform.open(parse(more), { context: testContext(), home: "/nowhere", trustedProxies: () => [], log: silentLog });

test("a section of the Go maxclaw connects as it did there, and listens on nothing", async () => {
  const section = parse();
  assert.equal(qqPlatform.lacks?.(section), undefined);
  assert.equal(section.receiveBy, "websocket");
  assert.equal(qqPlatform.checkup?.listensOn?.(section), undefined);
  const { channel, problems } = await open();
  assert.deepEqual([channel?.name, problems], ["qq", []]);
  const where = qqPlatform.checkup?.listensOn?.(parse({ receiveBy: "webhook" }));
  assert.deepEqual(where, { key: "listenAddr", host: "0.0.0.0", port: 18_793 });
});

test("the login is in appId and appSecret, or in accessToken, as the Go maxclaw took it", () => {
  const both = { appId: "102000001", appSecret: "secret" };
  assert.deepEqual(credentialsOf(both), both);
  assert.deepEqual(credentialsOf({ accessToken: "102000001:secret" }), both);
  assert.deepEqual(credentialsOf({ accessToken: "102000001:se:cret" }), { appId: "102000001", appSecret: "se:cret" });
  assert.deepEqual(credentialsOf({ appId: "102000001", accessToken: "secret" }), both);
  for (const half of [{}, { appId: "1" }, { appSecret: "x" }, { accessToken: "secret" }, { accessToken: ":secret" }])
    assert.equal(credentialsOf(half), undefined);
  assert.match(qqPlatform.lacks?.(parse({ appSecret: "" })) ?? "", /no appId and appSecret/);
  assert.equal(parse({ appId: 102_000_001 }).appId, "102000001");
});

test("QQ numbers on the list let nobody in, and are reported", async () => {
  const { problems = [] } = await open({ allowFrom: ["123456789", openid, "*"] });
  assert.deepEqual(problems.length, 1);
  assert.match(problems[0] ?? "", /123456789 is a QQ number/);
  assert.equal(qqPlatform.checkup?.risks?.(parse({ allowFrom: ["123456789"] })).length, 1);
});

test("a login names the bot, and says what is wrong", async () => {
  await using qq = await startFakeQq();
  const scope = { home: "/nowhere", log: silentLog };
  const signal = AbortSignal.timeout(10_000);
  const logIn = (appSecret: string) =>
    qqPlatform.logIn?.(parse({ appId: qq.appId, appSecret, apiRoot: qq.url, tokenRoot: qq.url }), scope, signal);
  assert.equal(await logIn(qq.appSecret), "小助手");
  await assert.rejects(async () => await logIn("wrong"), /100016.*channels\.qq\.appSecret/s);
});

test("what OpenClaw and nanobot have of QQ is taken over", () => {
  const { imports } = qqPlatform;
  const ours = imports?.fromOpenclaw?.({ appId: "1", clientSecret: "s" }, (value) => String(value));
  assert.deepEqual(ours, { appId: "1", appSecret: "s" });
  assert.deepEqual(imports?.chatOf?.(openid), [openid]);
  assert.deepEqual(imports?.chatOf?.(openid, "group"), [`group-${openid}`]);
  assert.deepEqual(imports?.chatOf?.(`group:${openid}`), [`group-${openid}`]);
  assert.equal(imports?.chatOf?.("a:b:c"), undefined);
  assert.equal(imports?.directChatOf?.(`qqbot:c2c:${openid}`), openid);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { matrixPlatform } from "../../../src/channels/matrix/platform.js";
import { personId } from "../../../src/channels/matrix/set-up.js";
import { silentLog } from "../../../src/log.js";
import { botId, startFakeMatrix } from "../../support/fakes/matrix/fake-matrix.js";
import { never } from "../../support/worlds/channels/channel-kit.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

const written = { enabled: true, homeserver: "https://example.org", accessToken: "syt_1" };
const parse = (more: object = {}) => matrixPlatform.section.parse({ ...written, ...more });
const around = { home: "/nowhere", log: silentLog };

test("a section lacks what it cannot start without, and opens with what it has", async () => {
  const lacks = (more: object) => matrixPlatform.lacks?.(parse(more));
  assert.equal(lacks({}), undefined);
  assert.match(lacks({ homeserver: "" }) ?? "", /no homeserver/);
  assert.match(lacks({ accessToken: "" }) ?? "", /no accessToken/);
  assert.match(lacks({ accessToken: "", userId: "@a:b" }) ?? "", /password/);
  assert.equal(lacks({ accessToken: "", userId: "@a:b", password: "x" }), undefined);
  const scope = { ...around, context: testContext(), trustedProxies: () => [] };
  const { channel, problems } = await matrixPlatform.open(parse({ allowFrom: ["Ann", "@ann:example.org"] }), scope);
  assert.equal(channel?.name, "matrix");
  assert.deepEqual(problems, ["channels.matrix.allowFrom: Ann is not a Matrix id, so nobody is recognised by it."]);
});

test("the doctor names ids that are none, and a homeserver to which the token goes in clear", () => {
  const risks = (more: object) =>
    matrixPlatform.checkup?.risks?.(parse(more)).map(({ level, about }) => [about, level]);
  assert.deepEqual(risks({}), []);
  assert.deepEqual(risks({ allowFrom: ["ann"] }), [["people", "warn"]]);
  assert.deepEqual(risks({ homeserver: "http://example.org" }), [["access", "fail"]]);
  assert.deepEqual(risks({ homeserver: "http://127.0.0.1:8008" }), []);
});

test("the login is tried with the token or the password, names the bot, and leaves no device behind", async () => {
  await using matrix = await startFakeMatrix();
  const homeserver = matrix.url;
  const tried = async (more: object) => await matrixPlatform.logIn?.(parse({ homeserver, ...more }), around, never);
  assert.equal(await tried({ accessToken: matrix.token }), botId);
  const login = { accessToken: "", userId: botId, password: matrix.password };
  assert.equal(await tried(login), botId);
  assert.equal(matrix.tokens.size, 1);
  await assert.rejects(tried({ accessToken: "syt_wrong" }), /channels\.matrix\.accessToken/);
  await assert.rejects(tried({ ...login, password: "wrong" }), /channels\.matrix\.password/);
  matrix.server.failNext(/whoami$/, { kind: "answer", status: 403, body: { errcode: "M_USER_DEACTIVATED" } });
  await assert.rejects(tried({ accessToken: matrix.token }), /bot's account/);
});

test("chats and people of other programs are taken over as they are", () => {
  const { imports, setUp } = matrixPlatform;
  assert.deepEqual(imports?.chatOf?.("!abc:example.org"), ["!abc:example.org"]);
  assert.deepEqual(imports?.chatOf?.("!abc:example.org:thread:$1"), ["!abc:example.org", "$1"]);
  assert.equal(imports?.chatOf?.("@ann:example.org"), undefined);
  const openclaw = { homeserver: "https://a.b", accessToken: "t", userId: "@a:b", password: { source: "env" } };
  assert.deepEqual(
    imports?.fromOpenclaw?.(openclaw, (value) => (typeof value === "string" ? value : undefined)),
    { homeserver: "https://a.b", userId: "@a:b", accessToken: "t", password: undefined },
  );
  const pattern = new RegExp(setUp?.person.pattern ?? "");
  for (const id of ["@ann:example.org", "@ann:example.org:8448", "@a=b/c:[::1]"]) assert.ok(pattern.test(id), id);
  for (const id of ["ann", "@ann", "ann:example.org", "@ann:", "@a b:c"]) assert.ok(!personId.test(id), id);
});

test("encryption is off with several gateways, and opens a channel where its packages are", async () => {
  const scope = { ...around, context: testContext(), trustedProxies: () => [] };
  const section = parse({ encryption: true });
  assert.match((await matrixPlatform.open(section, { ...scope, isShared: true })).off ?? "", /several gateways/);
  assert.equal((await matrixPlatform.open(section, scope)).channel?.name, "matrix");
});

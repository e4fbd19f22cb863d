import assert from "node:assert/strict";
import { test } from "node:test";
import { openSocket, readSse, refusedUpgrade } from "../../../support/worlds/http/http-clients.js";
import {
  openTestServer,
  postJson,
  rawRequest,
  type TestServer,
  until,
} from "../../../support/worlds/http/http-server.js";
import { memoryDevices, memoryRecords } from "../../../support/worlds/http/memory/devices.js";

const token = "a-token-of-more-than-twenty-characters";
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const secretPattern = /^maxclaw-\d+=([\w-]{43}); Path=\/; Max-Age=7776000; HttpOnly; SameSite=Strict$/;

interface SignedIn {
  readonly id: string;
  /** The header of a browser with its cookie. */
  readonly cookie: string;
}

async function signIn(served: TestServer, headers: Record<string, string> = {}): Promise<SignedIn> {
  const answer = await postJson(`${served.url}/api/login`, { token }, { "user-agent": firefox, ...headers });
  assert.equal(answer.status, 200);
  const [pair = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
  const { device } = (await answer.json()) as { device: { id: string } };
  return { id: device.id, cookie: pair };
}

async function statusWith(served: TestServer, cookie: string, headers: Record<string, string> = {}): Promise<number> {
  return (await fetch(`${served.url}/api/status`, { headers: { cookie, ...headers } })).status;
}

test("a right token signs a browser in with a cookie that no script reads; the token is not in it", async () => {
  await using served = await openTestServer({ token });
  const answer = await postJson(
    `${served.url}/api/login`,
    { token, device: "Kitchen\u0000 tablet" },
    { origin: served.url },
  );
  const cookie = answer.headers.get("set-cookie") ?? "";
  assert.match(cookie, secretPattern);
  assert.ok(!cookie.includes(token));
  const [pair = ""] = cookie.split(";");
  assert.equal(await statusWith(served, pair), 200);
  assert.equal(await statusWith(served, `other=1; ${pair}; maxclaw=no`), 200);
  assert.equal(await statusWith(served, pair.replace("=", "=x")), 401);
  assert.equal(await statusWith(served, `maxclaw=${pair.split("=")[1]}`), 401, "the name has the port");
  const { devices, needsToken } = await listOf(served, pair);
  assert.equal(needsToken, true);
  const [first] = devices;
  assert.ok(first !== undefined && devices.length === 1);
  assert.equal(first.name, "Kitchen tablet");
  assert.equal(first.address, "127.0.0.1");
  assert.equal(first.current, true);
  for (const wrong of [{}, { token: "" }, { token: "wrong" }, { token: 1 }])
    assert.ok([400, 401].includes((await postJson(`${served.url}/api/login`, wrong)).status));
});

test("without a token there is nothing to sign in to, and no invitation", async () => {
  await using served = await openTestServer();
  assert.equal((await postJson(`${served.url}/api/login`, { token: "any" })).status, 409);
  assert.equal((await postJson(`${served.url}/api/join`, { code: "any" })).status, 409);
  assert.equal((await postJson(`${served.url}/api/devices/invite`, {})).status, 409);
  assert.deepEqual(await listOf(served, ""), { needsToken: false, devices: [] });
  assert.equal(await statusWith(served, ""), 200);
});

test("a secret that the browser brought along is never taken over, and signing in again ends the one before", async () => {
  await using served = await openTestServer({ token });
  const planted = `maxclaw-${served.server.port}=${"A".repeat(43)}`;
  const first = await signIn(served, { cookie: planted });
  assert.notEqual(first.cookie, planted);
  assert.equal(await statusWith(served, planted), 401);
  const second = await signIn(served, { cookie: first.cookie });
  assert.notEqual(second.cookie, first.cookie);
  assert.equal(await statusWith(served, first.cookie), 401);
  assert.equal((await listOf(served, second.cookie)).devices.length, 1);
});

test("no page but the gateway's own changes anything with the cookie, however it asks", async () => {
  await using served = await openTestServer({ token, allowedOrigins: ["https://desk.example"] });
  const { url } = served;
  const { cookie, id } = await signIn(served);
  const json = { cookie, "content-type": "application/json" };
  const send = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${url}/api/message`, { method: "POST", headers, body: '{"content":"hi"}' })).status;
  for (const origin of ["https://evil.example", "http://127.0.0.1:1", "null", "https://desk.example"])
    assert.equal(await send({ ...json, origin }), 403, origin);
  for (const site of ["cross-site", "same-site", "none"])
    assert.equal(await send({ ...json, "sec-fetch-site": site }), 403);
  assert.equal(await send(json), 403, "neither Origin nor a relation is named");
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
    assert.equal(await send({ cookie, origin: url, "content-type": type }), 415, type);
  const upload = await fetch(`${url}/api/upload`, {
    method: "POST",
    headers: { cookie, "x-filename": "a" },
    body: "a",
  });
  assert.equal(upload.status, 403);
  const headers = { cookie, origin: "https://evil.example" };
  assert.equal((await fetch(`${url}/api/devices/${id}`, { method: "DELETE", headers })).status, 403);
  assert.equal(served.gateway.sent.length, 0);
  assert.equal(await send({ ...json, origin: url }), 200);
  assert.equal(await send({ ...json, "sec-fetch-site": "same-origin" }), 200);
  assert.equal(await send({ authorization: `Bearer ${token}`, "content-type": "application/json" }), 200, "a program");
  assert.equal(
    await send({ ...json, authorization: "Bearer wrong", origin: url }),
    401,
    "a wrong token is not made good",
  );
});

test("a WebSocket opens with the cookie for the gateway's own page only", async () => {
  await using served = await openTestServer({ token });
  const { cookie } = await signIn(served);
  const socket = await openSocket(served.url, { origin: served.url, headers: { cookie } });
  assert.equal((await socket.command("ping")).success, true);
  socket.socket.terminate();
  for (const origin of ["https://evil.example", "http://127.0.0.1:1", "null", undefined])
    assert.equal(
      await refusedUpgrade(`${served.url}/ws`, { headers: { cookie }, ...(origin === undefined ? {} : { origin }) }),
      403,
      origin,
    );
});

test("a device that is signed out loses its connections at once, and no other does", async () => {
  await using served = await openTestServer({ token });
  const [lost, kept] = [await signIn(served), await signIn(served)];
  const open = ({ cookie }: SignedIn) => openSocket(served.url, { origin: served.url, headers: { cookie } });
  const [first, second, other] = [await open(lost), await open(lost), await open(kept)];
  const stream = await fetch(`${served.url}/api/sessions/webui:1/stream`, { headers: { cookie: lost.cookie } });
  const headers = { cookie: kept.cookie, origin: served.url };
  const removed = await fetch(`${served.url}/api/devices/${lost.id}`, { method: "DELETE", headers });
  assert.equal(removed.status, 200);
  assert.equal(removed.headers.get("set-cookie"), null, "its own cookie stays");
  assert.equal((await first.closed).code, 1008);
  assert.equal((await second.closed).code, 1008);
  await readSse(stream);
  assert.equal(await statusWith(served, lost.cookie), 401);
  assert.equal((await other.command("ping")).success, true);
  const again = await fetch(`${served.url}/api/devices/${lost.id}`, { method: "DELETE", headers });
  assert.equal(again.status, 404);
  // Two tabs of one browser sign out one after the other.
  for (let tab = 0; tab < 2; tab++) {
    const left = await postJson(`${served.url}/api/logout`, {}, headers);
    assert.equal(left.status, 200);
    assert.match(left.headers.get("set-cookie") ?? "", /^maxclaw-\d+=; Path=\/; Max-Age=0;/);
  }
  assert.equal((await other.closed).code, 1008);
  assert.equal(await statusWith(served, kept.cookie), 401);
});

test("a device that somebody has signed out is told so, after a restart and with another token too; one that stayed away is not", async () => {
  let now = Date.UTC(2026, 0, 1);
  const records = memoryRecords();
  const open = (more: string) => {
    const devices = memoryDevices({ now: () => now, token: `${token}${more}` }, records);
    return openTestServer({ token: `${token}${more}` }, { devices });
  };
  const codeFor = async (served: TestServer, { cookie: [name = "", secret = ""] }: { readonly cookie: string[] }) => {
    const cookie = `maxclaw-${served.server.port}=${secret}`;
    assert.ok(name.startsWith("maxclaw-"));
    const answer = await fetch(`${served.url}/api/status`, { headers: { cookie } });
    return [answer.status, ((await answer.json()) as { code?: string }).code];
  };
  const asParts = ({ cookie, id }: SignedIn) => ({ id, cookie: cookie.split("=") });
  await using first = await open("");
  const [left, away] = [asParts(await signIn(first)), asParts(await signIn(first))];
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await fetch(`${first.url}/api/devices/${left.id}`, { method: "DELETE", headers })).status, 200);
  assert.deepEqual(await codeFor(first, left), [401, "signed_out"]);
  await using restarted = await open("");
  assert.deepEqual(await codeFor(restarted, left), [401, "signed_out"]);
  assert.deepEqual(await codeFor(restarted, { cookie: ["maxclaw-1", "A".repeat(43)] }), [401, "unauthorized"]);
  now += 91 * 86_400_000;
  assert.deepEqual(await codeFor(restarted, away), [401, "unauthorized"], "its days are over");
  await using changed = await open("-changed");
  assert.deepEqual(await codeFor(changed, left), [401, "signed_out"]);
  assert.ok(!JSON.stringify(records.list()).includes(left.cookie[1] ?? ""), "only a hash is kept");
});

test("a device is renamed; the pages of others and names without a letter change nothing", async () => {
  await using served = await openTestServer({ token });
  const { cookie, id } = await signIn(served);
  const rename = (name: string, origin = served.url) =>
    postJson(`${served.url}/api/devices/${id}/rename`, { name }, { cookie, origin });
  assert.equal((await rename("My desk")).status, 200);
  assert.equal((await rename(" \u200b ")).status, 400);
  assert.equal((await rename("Yours", "https://evil.example")).status, 403);
  assert.deepEqual(
    (await listOf(served, cookie)).devices.map(({ name, browser }) => [name, browser]),
    [["My desk", "Firefox on Linux"]],
  );
});

test("who comes back gets new days, who stays away is signed out, and another token signs everybody out", async () => {
  let now = Date.UTC(2026, 0, 1);
  let days = 90;
  const records = memoryRecords();
  const options = { now: () => now, idleDays: () => days };
  const site = () => ({ basePath: "", trustedProxies: [], sessionDays: days });
  const day = 86_400_000;
  await using served = await openTestServer(
    { token, site },
    { devices: memoryDevices({ ...options, token }, records) },
  );
  const { cookie } = await signIn(served);
  const cookieOf = async (): Promise<string | null> =>
    (await fetch(`${served.url}/api/status`, { headers: { cookie } })).headers.get("set-cookie");
  assert.equal(await cookieOf(), null, "not with each request");
  now += 89 * day;
  const renewed = await Promise.all([cookieOf(), cookieOf(), cookieOf()]);
  assert.equal(renewed.filter((text) => text !== null).length, 1);
  assert.match(renewed.find((text) => text !== null) ?? "", secretPattern);
  now += 89 * day;
  assert.equal(await statusWith(served, cookie), 200);
  days = 30;
  now += 31 * day;
  assert.equal(await statusWith(served, cookie), 401);
  const other = await signIn(served);
  const same = memoryDevices({ ...options, token }, records);
  assert.equal((await same.list()).length, 1, "a restart keeps it");
  assert.ok(!JSON.stringify(records.list()).includes(other.cookie.split("=")[1] ?? ""), "only a hash is kept");
  assert.ok(!JSON.stringify(records.list()).includes(token));
  const changed = memoryDevices({ ...options, token: "another-token-of-more-than-twenty" }, records);
  assert.equal(
    await changed.find(other.cookie.split("=")[1] ?? "", { address: "", browser: "", isSecure: false }),
    undefined,
  );
  assert.deepEqual(await changed.list(), []);
});

test("an invitation lets in once, for ten minutes, however many come at the same time", async () => {
  let now = Date.UTC(2026, 0, 1);
  await using served = await openTestServer(
    { token, timings: { wrongTokenDelayMs: 0 } },
    { devices: memoryDevices({ now: () => now }) },
  );
  const { cookie } = await signIn(served);
  const invite = async (): Promise<{ url: string; warning?: string; code: string }> => {
    const answer = await postJson(`${served.url}/api/devices/invite`, {}, { cookie, origin: served.url });
    const body = (await answer.json()) as { url: string; warning?: string };
    return { ...body, code: /^http:\/\/127\.0\.0\.1:\d+\/#join=([\w-]{22})$/.exec(body.url)?.[1] ?? "" };
  };
  const join = (code: string) =>
    postJson(`${served.url}/api/join`, { code }, { "user-agent": "Mozilla/5.0 (iPhone) Safari/604" });
  const first = await invite();
  assert.match(first.warning ?? "", /gateway\.publicUrl/);
  const answers = await Promise.all(Array.from({ length: 8 }, () => join(first.code)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401, 401, 401, 401]);
  const joined =
    answers
      .find(({ status }) => status === 200)
      ?.headers.get("set-cookie")
      ?.split(";")[0] ?? "";
  assert.equal(await statusWith(served, joined), 200);
  assert.deepEqual((await listOf(served, cookie)).devices.map(({ name }) => name).sort(), [
    "Firefox on Linux",
    "Safari on iPhone",
  ]);
  const late = await invite();
  now += 10 * 60_000;
  assert.equal((await join(late.code)).status, 401);
  assert.equal((await postJson(`${served.url}/api/devices/invite`, {})).status, 401, "strangers invite nobody");
});

test("wrong tokens and wrong codes are counted together, and keep the owner out of nothing", async () => {
  await using served = await openTestServer({ token, timings: { wrongTokenDelayMs: 0 } });
  const counts = new Map<number, number>();
  for (let n = 0; n < 60; n++) {
    const [path, body] = n % 2 === 0 ? ["join", { code: `wrong-${n}` }] : ["login", { token: `wrong-${n}` }];
    const answer = await postJson(`${served.url}/api/${path}`, body);
    counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
    if (answer.status === 429) assert.ok(Number(answer.headers.get("retry-after")) > 200);
  }
  assert.deepEqual([counts.get(401), counts.get(429)], [9, 51]);
  const [problem = ""] = served.server.problems();
  assert.match(problem, /^60 wrong tokens were tried within 10 minutes, the last one from this machine\./);
  const { cookie } = await signIn(served);
  assert.equal(await statusWith(served, cookie), 200);
});

test("a device that is signed out while it connects does not get in", async () => {
  const devices = memoryDevices();
  let before = async (): Promise<void> => {};
  const slow = {
    ...devices,
    find: async (...asked: Parameters<typeof devices.find>) => {
      const found = await devices.find(...asked);
      await before();
      return found;
    },
  };
  await using served = await openTestServer({ token }, { devices: slow });
  const { cookie, id } = await signIn(served);
  before = () => devices.remove(id).catch(() => undefined);
  const { closed } = await openSocket(served.url, { origin: served.url, headers: { cookie } });
  assert.equal((await closed).code, 1008);
  await until(() => !devices.isKnown(id), "it is gone");
});

test("the cookie of a page over TLS is for TLS only", async () => {
  const site = () => ({ basePath: "", trustedProxies: ["127.0.0.1"], sessionDays: 90 });
  await using served = await openTestServer({ token, site });
  const { port } = served.server;
  const login = async (headers: Record<string, string>): Promise<string> => {
    const answer = await rawRequest(
      port,
      {
        method: "POST",
        path: "/api/login",
        headers: { host: "chat.example", "content-type": "application/json", ...headers },
      },
      JSON.stringify({ token }),
    );
    assert.equal(answer.status, 200);
    return String(answer.headers["set-cookie"]);
  };
  const secure = await login({ "x-forwarded-proto": "https", origin: "https://chat.example" });
  assert.match(secure, /^__Secure-maxclaw=[\w-]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Strict; Secure$/);
  assert.doesNotMatch(await login({ "x-forwarded-proto": "http" }), /Secure/);
  assert.match(
    await login({ origin: "https://chat.example" }),
    /; Secure$/,
    "where no proxy says so, the browser does",
  );
  const [cookie = ""] = secure.split(";");
  const ask = async (headers: Record<string, string>): Promise<number> =>
    (await rawRequest(port, { path: "/api/status", headers: { host: "chat.example", cookie, ...headers } })).status;
  assert.equal(await ask({ "x-forwarded-proto": "https" }), 200);
  assert.equal(await ask({ "x-forwarded-proto": "http" }), 401, "who sends it without TLS has read it");
  const renamed = { cookie: cookie.replace("__Secure-", "") };
  assert.equal(await ask({ "x-forwarded-proto": "https", ...renamed }), 401, "a name that could come without TLS");
  assert.equal(await ask({ origin: "http://chat.example" }), 403);
});

interface Listed {
  readonly needsToken: boolean;
  readonly devices: readonly { name: string; browser: string; address: string; current: boolean }[];
}

async function listOf(served: TestServer, cookie: string): Promise<Listed> {
  return (await (await fetch(`${served.url}/api/devices`, { headers: { cookie } })).json()) as Listed;
}

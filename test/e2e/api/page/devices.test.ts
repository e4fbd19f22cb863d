import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway, type TestGateway } from "../../../support/worlds/gateway.js";
import { postJson } from "../../../support/worlds/http/http-server.js";
import { lookedAt } from "../../../support/worlds/live-edit.js";

const token = "a-token-of-more-than-twenty-characters";

const cookieOf = (answer: Response): string => answer.headers.get("set-cookie")?.split(";")[0] ?? "";
const urlOf = ({ gateway }: TestGateway): string => `http://${gateway.address}`;
/** Its name has the port, which is another one after a restart. */
const secretOf = (cookie: string): string => cookie.split("=")[1] ?? "";

test("devices outlive a restart and are in the gateway's log; another token signs them out", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "hello" } });
  const config = (own: string) => openAIConfig(model.apiBase, { gateway: { token: own } });
  let gateway = await startGateway({ config: config(token) });
  const statusWith = async (secret: string): Promise<number> => {
    const { port } = new URL(urlOf(gateway));
    return (await fetch(`${urlOf(gateway)}/api/status`, { headers: { cookie: `maxclaw-${port}=${secret}` } })).status;
  };
  const secret = secretOf(cookieOf(await postJson(`${urlOf(gateway)}/api/login`, { token, device: "Desk" })));
  const { url } = (await (
    await postJson(`${urlOf(gateway)}/api/devices/invite`, {}, { authorization: `Bearer ${token}` })
  ).json()) as { url: string };
  assert.equal(await statusWith(secret), 200);
  const { events } = await gateway.gateway.api.events("system", { fromSequence: 0, limit: 1000 });
  const changes = events
    .filter(({ type }) => type === "settings_changed")
    .map(({ payload }) => JSON.stringify(payload));
  assert.match(changes.join(), /"key":"device","to":"Desk \([0-9a-f]{12}\)"/);

  gateway = await gateway.restart();
  assert.equal(await statusWith(secret), 200);
  const files = await readdir(gateway.home, { recursive: true, withFileTypes: true });
  for (const file of files.filter((each) => each.isFile() && each.name !== "config.json")) {
    const text = await readFile(join(file.parentPath, file.name), "latin1");
    assert.ok(!text.includes(secret) && !text.includes(token), `${file.name} holds neither secret nor token`);
  }
  gateway = await gateway.restart(config(`${token}-changed`));
  assert.equal(await statusWith(secret), 401);
  const code = new URL(url).hash.replace("#join=", "");
  assert.equal(
    (await postJson(`${urlOf(gateway)}/api/join`, { code })).status,
    401,
    "invitations are of the old one too",
  );
  gateway = await gateway.restart(config(token));
  assert.equal(await statusWith(secret), 401, "and it stays so with the first one again");
  await gateway[Symbol.asyncDispose]();
});

test("one code lets one device in, however many show it while it is being taken from the disk", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "hello" } });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase, { gateway: { token } }) });
  const headers = { authorization: `Bearer ${token}` };
  for (let round = 0; round < 5; round++) {
    const invited = await postJson(`${urlOf(gateway)}/api/devices/invite`, {}, headers);
    const { url } = (await invited.json()) as { url: string };
    const code = new URL(url).hash.replace("#join=", "");
    const { devices } = gateway.gateway.api;
    const visit = { address: "203.0.113.7", browser: "Firefox", isSecure: false };
    const joined = await Promise.all(Array.from({ length: 8 }, () => devices.join(code, visit)));
    assert.equal(joined.filter((each) => each !== undefined).length, 1);
  }
  assert.equal((await gateway.gateway.api.devices.list()).length, 5);
});

test("guesses are among the problems of the status, and a base path counts from the change on", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "hello" } });
  const config = openAIConfig(model.apiBase, { gateway: { token } });
  await using gateway = await startGateway({ config });
  for (let n = 0; n < 3; n++) await postJson(`${urlOf(gateway)}/api/login`, { token: `wrong-${n}` });
  assert.deepEqual(
    (await gateway.gateway.api.status()).problems.filter((one) => one.includes("wrong token")),
    [],
  );
  const tries = Array.from({ length: 9 }, () => postJson(`${urlOf(gateway)}/api/login`, { token: "wrong" }));
  await Promise.all(tries);
  assert.match((await gateway.gateway.api.status()).problems.join(), /12 wrong tokens were tried within 10 minutes/);
  const { writeFile } = await import("node:fs/promises");
  const headers = { authorization: `Bearer ${token}` };
  const statusOf = async (path: string) =>
    (await fetch(`${urlOf(gateway)}${path}`, { headers, redirect: "manual" })).status;
  assert.equal(await statusOf("/assistant"), 200, "the page has no such part");
  await writeFile(
    join(gateway.home, "config.json"),
    JSON.stringify(openAIConfig(model.apiBase, { gateway: { token, port: 0, basePath: "/assistant/" } })),
  );
  await lookedAt(gateway.gateway);
  assert.deepEqual([await statusOf("/assistant"), await statusOf("/assistant/api/status")], [307, 200]);
  const uploaded = await fetch(`${urlOf(gateway)}/assistant/api/upload`, {
    method: "POST",
    headers: { ...headers, "x-filename": "a.txt" },
    body: "text",
  });
  const { url } = (await uploaded.json()) as { url: string };
  assert.match(url, /^\/assistant\/api\/uploads\//);
  assert.equal(await statusOf(url), 200, "what is uploaded below the path is found below it");
});

/** A request whose body waits: `100 Continue` says that the gateway has its head. */
async function openRequest(gateway: TestGateway, method: string, path: string, headers: Record<string, string>) {
  const { hostname, port } = new URL(urlOf(gateway));
  const sent = request({ hostname, port, path, method, headers: { ...headers, expect: "100-continue" }, agent: false });
  const answered = once(sent, "response").then(async ([response]: readonly IncomingMessage[]) => {
    assert.ok(response);
    response.resume();
    await once(response, "end");
    return response.statusCode;
  });
  const goOn = once(sent, "continue");
  sent.flushHeaders();
  await goOn;
  return { sent, answered };
}

test("a request whose device is signed out while its body arrives is refused, and nothing of it counts", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "hello" } });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase, { gateway: { token } }) });
  const before = await readFile(join(gateway.home, "config.json"), "utf8");
  const json = { "content-type": "application/json" };
  const change = JSON.stringify({ changes: [{ path: ["log", "level"], value: "error" }] });
  for (const { method, path, headers, body } of [
    { method: "PUT", path: "/api/settings", headers: json, body: change },
    { method: "POST", path: "/api/message", headers: json, body: '{"sessionKey":"webui:late","message":"hello"}' },
    {
      method: "POST",
      path: "/v1/chat/completions",
      headers: json,
      body: '{"messages":[{"role":"user","content":"x"}]}',
    },
    { method: "POST", path: "/api/upload", headers: { "x-filename": "late.txt" }, body: "the text of a file" },
  ]) {
    const cookie = cookieOf(await postJson(`${urlOf(gateway)}/api/login`, { token, device: "Lost" }));
    const own = { cookie, origin: urlOf(gateway), ...headers, "content-length": String(body.length) };
    const { sent, answered } = await openRequest(gateway, method, path, own);
    sent.write(body.slice(0, 10));
    // A whole request of the same device: by then the first one is known, too.
    assert.equal((await fetch(`${urlOf(gateway)}/api/status`, { headers: { cookie } })).status, 200);
    const { devices } = gateway.gateway.api;
    for (const { id } of await devices.list()) await devices.remove(id);
    sent.end(body.slice(10));
    assert.equal(await answered, 401, `${method} ${path}`);
  }
  assert.equal(await readFile(join(gateway.home, "config.json"), "utf8"), before);
  assert.equal(model.requests.length, 0);
  const files = await readdir(gateway.home, { recursive: true });
  assert.deepEqual(
    files.filter((file) => file.includes("late")),
    [],
  );
});

import assert from "node:assert/strict";
import { mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeDiscord } from "../../support/fakes/fake-discord.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { withoutMailServer } from "../../support/fakes/mail/mail-server.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { createEmailHarnesses } from "../../support/worlds/channels/email-harness.js";
import { openAIConfig, startGateway, type TestGateway } from "../../support/worlds/gateway.js";
import { openSocket } from "../../support/worlds/http/http-clients.js";
import { until } from "../../support/worlds/http/http-server.js";

const stars = "********";
const secrets = {
  key: "sk-live-0123456789",
  bot: "4242:telegram-secret",
  env: "env-secret-value",
  argument: "argument-secret",
  password: "hunter2hunter2",
  variable: ["$", "{GROQ_API_KEY}"].join(""),
};

const config = {
  agents: { defaults: { model: "openai/test-model" } },
  providers: { openai: { apiKey: secrets.key, apiBase: "https://models.test/v1" }, groq: { apiKey: secrets.variable } },
  channels: { telegram: { enabled: false, token: secrets.bot, allowFrom: [] } },
  tools: {
    mcpServers: {
      notes: {
        command: "notes",
        enabled: false,
        args: ["--token", secrets.argument, "--depth", "3"],
        env: { NOTES: secrets.env },
      },
      far: { url: `https://me:${secrets.password}@mcp.test/`, enabled: false },
    },
  },
  fromTheFuture: { keepMe: [1, 2] },
};

const call = async (gateway: TestGateway, method: string, path: string, body?: unknown, headers: object = {}) => {
  const response = await fetch(`http://${gateway.gateway.address}${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  for (const secret of [secrets.key, secrets.bot, secrets.env, secrets.argument, secrets.password])
    assert.ok(!text.includes(secret), `${method} ${path} shows ${secret}`);
  return { status: response.status, etag: response.headers.get("etag") ?? "", answer: Object(JSON.parse(text)), text };
};

const token = "a-token-of-the-gateway";

async function openPlace(content: unknown = config) {
  const gateway = await startGateway({ config: content });
  const own = Object(Object(content).gateway).token === token ? { authorization: `Bearer ${token}` } : {};
  const path = join(gateway.home, "config.json");
  return {
    gateway,
    path,
    stored: async () => JSON.parse(await readFile(path, "utf8")),
    get: (route: string) => call(gateway, "GET", route, undefined, own),
    put: (route: string, body: unknown, headers: object = {}) =>
      call(gateway, "PUT", route, body, { ...own, ...headers }),
    post: (route: string, body: unknown) => call(gateway, "POST", route, body, own),
    remove: (route: string) => call(gateway, "DELETE", route, undefined, own),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

test("the config is shown with its defaults and stars for secrets, and changes nothing when it comes back", async () => {
  await using place = await openPlace();
  const { answer: shown, etag } = await place.get("/api/config");
  assert.equal(shown.providers.openai.apiKey, stars);
  assert.equal(shown.providers.groq.apiKey, secrets.variable, "a variable is not a secret");
  assert.equal(shown.channels.telegram.token, stars);
  assert.deepEqual(shown.tools.mcpServers.notes.args, ["--token", stars, "--depth", "3"]);
  assert.equal(shown.tools.mcpServers.far.url, `https://me:${stars}@mcp.test/`);
  assert.equal(shown.agents.defaults.maxTokens, 8192);
  assert.equal(shown.agents.defaults.workspace, place.gateway.workspace);
  assert.deepEqual(shown.fromTheFuture, { keepMe: [1, 2] });
  const before = await readFile(place.path, "utf8");
  const { answer: same, status } = await place.put("/api/config", shown);
  assert.deepEqual([status, same.restart, same.backup], [200, [], undefined]);
  assert.equal((await place.put("/api/config", same)).status, 200, "an answer can be sent back as it came");
  assert.equal(await readFile(place.path, "utf8"), before);
  assert.match(etag, /^"[0-9a-f]{32}"$/);
});

test("a change is written with a copy of the file before, keeps all else, and names what waits for a restart", async () => {
  await using place = await openPlace({ ...config, gateway: { token } });
  const before = await readFile(place.path, "utf8");
  const { answer: shown, etag } = await place.get("/api/config");
  shown.agents.defaults.temperature = 0.2;
  shown.tools.browser.idleSeconds = 61;
  shown.providers.groq = { apiBase: "https://other.test/v1", apiKey: "sk-groq-0123456789" };
  shown.tools.mcpServers.notes.args.push("--quiet");
  const { answer, status } = await place.put("/api/config", shown, { "if-match": etag });
  assert.equal(status, 200);
  assert.deepEqual(answer.restart, ["tools.browser.idleSeconds"], "the rest is in force");
  assert.equal((await place.gateway.gateway.api.status()).config?.restart.join(), "tools.browser.idleSeconds");
  assert.deepEqual((await place.get("/api/config/pending")).answer.restart, answer.restart);
  const stored = await place.stored();
  assert.deepEqual(stored, {
    ...stored,
    agents: { defaults: { model: "openai/test-model", temperature: 0.2 } },
    providers: { ...config.providers, groq: { apiKey: "sk-groq-0123456789", apiBase: "https://other.test/v1" } },
    fromTheFuture: { keepMe: [1, 2] },
  });
  const { notes } = stored.tools.mcpServers;
  assert.deepEqual(notes.args, ["--token", secrets.argument, "--depth", "3", "--quiet"]);
  assert.deepEqual(notes.env, { NOTES: secrets.env });
  assert.equal(await readFile(answer.backup, "utf8"), before);
  for (const file of [place.path, answer.backup]) assert.equal((await stat(file)).mode & 0o777, 0o600, file);
  const late = await place.put("/api/config", shown, { "if-match": etag });
  assert.deepEqual([late.status, late.answer.code], [412, "changed"]);
});

test("single settings can be sent, a new key replaces the stars, null and what a list leaves out is removed", async () => {
  await using place = await openPlace();
  await place.put("/api/config", { agents: { defaults: { executionMode: "safe" } } });
  assert.deepEqual((await place.stored()).providers, config.providers);
  assert.equal((await place.stored()).agents.defaults.executionMode, "safe");
  assert.equal((await place.stored()).channels.telegram.token, secrets.bot);
  const providers = { openai: { apiKey: "sk-new-0123456789" }, acme: { apiBase: "http://127.0.0.1:9/v1" } };
  const { answer } = await place.put("/api/config", { providers, agents: { defaults: { executionMode: null } } });
  assert.equal(answer.providers.openai.apiKey, stars);
  const stored = await place.stored();
  assert.deepEqual(stored.providers, {
    openai: { apiKey: "sk-new-0123456789", apiBase: "https://models.test/v1" },
    acme: { apiBase: "http://127.0.0.1:9/v1" },
  });
  assert.equal(stored.agents.defaults.executionMode, undefined);
});

test("what would be wrong is refused with its name, and nothing is written", async () => {
  await using place = await openPlace();
  const before = await readFile(place.path, "utf8");
  for (const [body, status, message] of [
    [{ agents: { spawn: { depth: "many" } } }, 400, /agents\.spawn\.depth: expected/],
    [{ nonsense: { a: 1 } }, 400, /unknown key "nonsense"/],
    [{ channels: { discord: { enabled: true } } }, 400, /discord is enabled but has no token/],
    [{ providers: { openai: {}, acme: { apiKey: stars } } }, 400, /providers\.acme\.apiKey: no secret is stored here/],
    ['{"agents": {"__proto__": {"polluted": 1}}}', 400, /not a setting/],
    [{ extensions: [{ module: "./evil.mjs" }] }, 403, /Extensions/],
    [{ heartbeat: { activeHours: "never" } }, 400, /heartbeat\.activeHours/],
    [{ providers: { ...config.providers, openai: { apiBase: "http://evil.test" } } }, 400, /given for another address/],
    [{ channels: { telegram: { apiRoot: "http://evil.test", token: stars } } }, 400, /given for another address/],
    ...[
      { owners: ["telegram:666"] },
      { policy: { rules: [], answerSeconds: 10 } },
      { gateway: { host: "0.0.0.0" } },
      { tools: { mcpServers: { evil: { command: "sh" } } } },
      { tools: { exec: { sandbox: "off" } } },
      { OWNERS: ["telegram:666"] },
      { Tools: { Exec: { SANDBOX: "off" } } },
      { agents: { defaults: { execution_mode: "auto" } } },
      { tools: null },
      { tools: { browser: { executablePath: "/tmp/evil" } } },
      { tools: { restrictToWorkspace: false } },
      { agents: { defaults: { executionMode: "auto" } } },
      { agents: { defaults: { workspace: "/" } } },
      { storage: { driver: "fs" } },
      { transcription: { apiBase: "http://evil.test", apiKey: secrets.variable } },
    ].map((body) => [body, 403, /only where gateway\.token is set/] as const),
    ["[1]", 400, /body/],
  ] as const) {
    const refused = await place.put("/api/config", body);
    assert.equal(refused.status, status, refused.text);
    assert.match(refused.answer.error, message);
  }
  assert.equal((await place.put("/api/config", '{"__proto__": {"polluted": 1}}')).answer.backup, undefined);
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.equal(await readFile(place.path, "utf8"), before);
  await assert.rejects(stat(`${place.path}.previous`));
  await writeFile(place.path, "{broken");
  const broken = await place.put("/api/config", { log: { level: "warn" } });
  assert.deepEqual([broken.status, broken.answer.code], [409, "wrong_state"]);
  assert.equal(await readFile(place.path, "utf8"), "{broken");
});

test("MCP servers are added, changed, switched and removed at the paths of the Go maxclaw", async () => {
  await using place = await openPlace({ ...config, gateway: { token } });
  const servers = async () => (await place.stored()).tools.mcpServers;
  const added = {
    name: "new",
    type: "stdio",
    command: "new-server",
    args: ["-v"],
    env: { A: "b" },
    url: "",
    headers: {},
  };
  const { answer } = await place.post("/api/mcp", added);
  assert.deepEqual([answer.ok, answer.name, answer.restart], [true, "new", []]);
  assert.deepEqual((await servers()).new, { command: "new-server", args: ["-v"], env: { A: "b" }, headers: {} });
  assert.equal((await place.post("/api/mcp", added)).status, 400);
  await place.put("/api/mcp/notes", { command: "notes-2", env: { NOTES: stars } });
  const { notes, far } = await servers();
  assert.deepEqual([notes.command, notes.env], ["notes-2", { NOTES: secrets.env }]);
  assert.equal(far.url, `https://me:${secrets.password}@mcp.test/`);
  await place.post("/api/mcp/new/disable", {});
  assert.equal((await servers()).new.enabled, false);
  await place.post("/api/mcp/new/enable", {});
  assert.equal((await servers()).new.enabled, true);
  assert.equal((await place.remove("/api/mcp/new")).status, 200);
  assert.deepEqual(Object.keys(await servers()), ["notes", "far"]);
  for (const path of ["/api/mcp/nobody", "/api/mcp/nobody/enable"])
    assert.equal((await (path.endsWith("enable") ? place.post(path, {}) : place.put(path, {}))).status, 404);
});

test("a YAML file keeps its comments", async () => {
  await using first = await openPlace({});
  await rm(first.path);
  const yaml = join(first.gateway.home, "config.yaml");
  await writeFile(yaml, "# mine\nlog:\n  level: info # plenty\n", { mode: 0o600 });
  const file = await readFile(yaml, "utf8");
  await using again = await first.gateway.restart();
  const { status } = await call(again, "PUT", "/api/config", { log: { level: "warn" } });
  assert.equal(status, 200);
  assert.equal(await readFile(yaml, "utf8"), file.replace("info", "warn"));
});

test("settings want the token like everything else", async () => {
  await using place = await openPlace({ ...config, gateway: { token } });
  for (const [method, path] of [
    ["GET", "/api/config"],
    ["PUT", "/api/config"],
    ["GET", "/api/providers"],
    ["POST", "/api/providers/models"],
    ["GET", "/api/channels"],
    ["POST", "/api/channels/telegram/test"],
    ["GET", "/api/notifications/pending"],
    ["GET", "/api/workspace-file/SOUL.md"],
    ["PUT", "/api/workspace-file/SOUL.md"],
  ] as const) {
    assert.equal((await call(place.gateway, method, path, method === "GET" ? undefined : {})).status, 401, path);
    const foreign = { authorization: `Bearer ${token}`, origin: "https://evil.test" };
    const crossed = await call(place.gateway, method, path, method === "GET" ? undefined : {}, foreign);
    assert.equal(crossed.status, 403, path);
  }
});

/** A provider's list of models at the wire. */
async function startModels(status = 200, body: unknown = { data: [{ id: "models/one" }, { id: "two", name: "Two" }] }) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const said = String(request.headers.authorization ?? request.headers["x-api-key"]);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body).replace("KEY", said));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, requests, [Symbol.asyncDispose]: async () => void server.close() };
}

test("a provider is tried with the key that is sent, and with that of the config at its own address only", async () => {
  await using models = await startModels();
  await using other = await startModels();
  const openai = { apiKey: secrets.key, apiBase: `${models.address}/v1` };
  await using place = await openPlace({ ...config, providers: { openai } });
  const listed = await place.post("/api/providers/models", { name: "OpenAI", apiKey: stars, apiFormat: "openai" });
  assert.deepEqual(listed.answer, {
    models: [
      { id: "one", name: "one" },
      { id: "two", name: "Two" },
    ],
  });
  assert.deepEqual(
    [models.requests[0]?.url, models.requests[0]?.headers.authorization],
    ["/v1/models", `Bearer ${secrets.key}`],
  );
  const moved = await place.post("/api/providers/test", { name: "openai", apiKey: "", baseURL: other.address });
  assert.deepEqual([moved.status, other.requests.length], [400, 0]);
  const sent = { name: "x", apiKey: "sk-sent", baseURL: `${other.address}/v1`, apiFormat: "anthropic" };
  assert.equal((await place.post("/api/providers/test", sent)).answer.ok, true);
  assert.deepEqual(
    [other.requests[0]?.url, other.requests[0]?.headers["x-api-key"]],
    ["/v1/models?limit=1000", "sk-sent"],
  );
  assert.equal(
    (await place.post("/api/providers/test", { name: "groq", apiKey: "" })).answer.error,
    "API key is required",
  );
  const keyless = await place.post("/api/providers/test", { name: "attic", baseURL: `${other.address}/v1` });
  assert.equal(keyless.answer.ok, true);
  const { authorization, "x-api-key": apiKey } = other.requests[1]?.headers ?? {};
  assert.deepEqual([authorization, apiKey], [undefined, undefined]);

  await using refusing = await startModels(401, { error: "wrong key KEY" });
  const refused = await place.post("/api/providers/test", { ...sent, baseURL: refusing.address, apiKey: "sk-refused" });
  assert.equal(refused.status, 400);
  assert.match(refused.answer.error, /answered 401: .*wrong key/);
  assert.ok(!refused.text.includes("sk-refused"));
  const { providers } = (await place.get("/api/providers")).answer;
  const found = providers.find(({ name }: { name: string }) => name === "openai");
  assert.deepEqual([found.hasKey, found.isConfigured, found.apiBase], [true, true, `${models.address}/v1`]);
});

test("channels are listed and tried, and their secrets go to no other address", async () => {
  await using telegram = await startFakeTelegram({ token: secrets.bot });
  const section = { enabled: false, token: secrets.bot, allowFrom: [], apiRoot: telegram.url };
  await using place = await openPlace({ ...config, channels: { telegram: section } });
  const { channels } = (await place.get("/api/channels")).answer;
  const named = (name: string) => channels.find((channel: { name: string }) => channel.name === name);
  assert.deepEqual([named("telegram").isAvailable, named("mattermost").isAvailable], [true, false]);
  assert.equal((await place.get("/api/channels/mattermost/status")).answer.connected, false);
  assert.deepEqual((await place.post("/api/channels/telegram/test", { enabled: true, token: stars })).answer, {
    ok: true,
    account: "@maxclaw_test_bot",
  });
  const wrong = await place.post("/api/channels/telegram/test", { token: "1:wrong" });
  assert.deepEqual([wrong.status, wrong.answer.code], [400, "test_failed"]);
  const moved = await place.post("/api/channels/telegram/test", { token: stars, apiRoot: "http://127.0.0.1:1" });
  assert.match(moved.answer.error, /apiRoot: the secrets .* another address/);
  const variable = { token: ["$", "{HOME}"].join(""), apiRoot: "http://127.0.0.1:1" };
  assert.equal((await place.post("/api/channels/telegram/test", variable)).status, 403);
  assert.equal((await place.post("/api/channels/discord/test", {})).status, 400);
  assert.equal((await place.post("/api/channels/nowhere/test", {})).status, 400);
  assert.deepEqual((await place.get("/api/channels/senders?channel=telegram&limit=20")).answer, { users: [] });
  assert.deepEqual((await place.get("/api/channels/senders?grouped=true&limit=100")).answer, { grouped: {} });
});

test("Discord is tried with the token that is sent", async () => {
  await using discord = await startFakeDiscord({ token: secrets.bot });
  const section = { enabled: false, token: secrets.bot, apiRoot: discord.url };
  await using place = await openPlace({ ...config, channels: { discord: section } });
  assert.deepEqual((await place.post("/api/channels/discord/test", {})).answer, { ok: true, account: "maxbot" });
  const wrong = await place.post("/api/channels/discord/test", { token: "another-token" });
  assert.deepEqual([wrong.status, wrong.answer.code], [400, "test_failed"], wrong.text);
  assert.ok(!wrong.text.includes("another-token"));
});

test("a mailbox is tried by logging in", { skip: withoutMailServer() }, async () => {
  await using harnesses = createEmailHarnesses();
  await using harness = await harnesses.open();
  const email = { ...harness.config, enabled: false };
  await using place = await openPlace({ ...config, channels: { email } });
  const tried = await place.post("/api/channels/email/test", {});
  assert.deepEqual([tried.status, tried.answer.ok, typeof tried.answer.account], [200, true, "string"], tried.text);
  const wrong = await place.post("/api/channels/email/test", { imapPassword: "not-the-password" });
  assert.equal(wrong.status, 400);
  assert.ok(!wrong.text.includes("not-the-password"));
  const elsewhere = await place.post("/api/channels/email/test", { imapHost: "mail.evil.test", imapPassword: stars });
  assert.match(elsewhere.answer.error, /imapHost: the secrets .* another address/);
  const readsFile = { ...harness.config, imapPassword: "x", accessTokenFile: "/etc/passwd" };
  assert.equal((await place.post("/api/channels/email/test", readsFile)).status, 403);
});

test("a scheduled run that is over is a notification until it is delivered", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "Watered." } });
  await using place = await openPlace(openAIConfig(model.apiBase));
  assert.deepEqual((await place.get("/api/notifications/pending")).answer, []);
  const { answer: job } = await place.post("/api/cron", { title: "Plants", prompt: "water them", every: "3600000" });
  await place.post(`/api/cron/${job.id}/run`, {});
  const pending = async () => Array.from((await place.get("/api/notifications/pending")).answer).map(Object);
  let found = await pending();
  for (let tries = 0; found.length === 0 && tries < 200; tries++) found = await pending();
  const [{ id, title, body, delivered }] = found;
  assert.deepEqual([title, body, delivered], ["Plants", "Watered.", false]);
  assert.deepEqual((await place.post(`/api/notifications/${id}/delivered`, {})).answer, { ok: true });
  assert.deepEqual(await pending(), []);
});

test("files that steer the assistant are read and written, and no others, over no link", async () => {
  await using place = await openPlace();
  const { workspace } = place.gateway;
  assert.deepEqual((await place.get("/api/workspace-file/USER.md")).answer, { content: "" });
  assert.deepEqual((await place.put("/api/workspace-file/USER.md", { content: "I am Ann.\n" })).answer, { ok: true });
  assert.equal(await readFile(join(workspace, "USER.md"), "utf8"), "I am Ann.\n");
  assert.equal((await stat(join(workspace, "USER.md"))).mode & 0o777, 0o600);
  assert.deepEqual((await place.get("/api/workspace-file/USER.md")).answer, { content: "I am Ann.\n" });
  await place.put("/api/workspace-file/memory/MEMORY.md", { content: "The cat is Momo." });
  assert.equal((await place.get("/api/workspace-file/MEMORY.md")).answer.content, "The cat is Momo.");
  await mkdir(join(workspace, ".sessions"), { recursive: true });
  await writeFile(join(workspace, ".sessions", "x.json"), "{}");
  for (const name of ["..%2Fconfig.json", ".sessions/x.json", "notes.txt", "%2e%2e/config.json", "memory/other.md"]) {
    for (const method of ["GET", "PUT"]) {
      const body = method === "PUT" ? { content: "x" } : undefined;
      const { status } = await call(place.gateway, method, `/api/workspace-file/${name}`, body);
      assert.ok([400, 403, 404].includes(status), `${method} ${name}: ${status}`);
    }
  }
  const read = await call(place.gateway, "GET", "/api/workspace-file/USER.md");
  const tag = { "if-match": read.etag };
  await writeFile(join(workspace, "USER.md"), "I am Ann, with an editor.\n");
  const late = await call(place.gateway, "PUT", "/api/workspace-file/USER.md", { content: "late" }, tag);
  assert.equal(late.status, 412);
  assert.equal(await readFile(join(workspace, "USER.md"), "utf8"), "I am Ann, with an editor.\n");
  await symlink(place.path, join(workspace, "SOUL.md"));
  const before = await readFile(place.path, "utf8");
  assert.equal((await place.get("/api/workspace-file/SOUL.md")).status, 409);
  assert.equal((await place.put("/api/workspace-file/SOUL.md", { content: "x" })).status, 409);
  assert.equal(await readFile(place.path, "utf8"), before);
  assert.equal((await place.put("/api/workspace-file/AGENTS.md", { content: "x".repeat(600_000) })).status, 413);
  const { files } = (await place.get("/api/workspace-file")).answer;
  assert.ok(files.some(({ name, exists }: { name: string; exists: boolean }) => name === "USER.md" && exists));
});

test("the Go maxclaw's page sends chat frames and hears answers in the same form", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "Hello back." } });
  await using place = await openPlace(openAIConfig(model.apiBase));
  const url = `http://${place.gateway.gateway.address}`;
  const page = await openSocket(url);
  const ours = await openSocket(url);
  const [heard, strange]: [object[], object[]] = [[], []];
  page.socket.on("message", (data) => heard.push(Object(JSON.parse(String(data)))));
  ours.socket.on("message", (data) => strange.push(Object(JSON.parse(String(data)))));
  await ours.command("ping");
  page.socket.send(JSON.stringify({ type: "chat", session: "desktop:1", content: "hello", timestamp: 1 }));
  const chats = () => heard.filter((frame) => Reflect.get(frame, "type") === "chat");
  await until(() => chats().length === 1, "the answer");
  const payload = { sessionKey: "desktop:1", channel: "desktop", chatId: "desktop:1", content: "Hello back." };
  assert.deepEqual(chats(), [{ type: "chat", payload }]);
  await place.gateway.ask("again", { key: "webui:other" });
  await until(() => chats().length === 2, "the answer of another conversation of the page");
  assert.ok(
    strange.every((frame) => Reflect.get(frame, "type") === "response"),
    JSON.stringify(strange),
  );
  page.socket.send(JSON.stringify({ type: "chat", content: "  ", id: "bad" }));
  await until(() => page.responses.some(({ id }) => id === "bad"), "the refusal");
  assert.equal(page.responses.find(({ id }) => id === "bad")?.response.success, false);
});

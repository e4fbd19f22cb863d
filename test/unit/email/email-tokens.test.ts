import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { createTokens } from "../../../src/channels/email/auth/tokens.js";
import { createEmailChannel } from "../../../src/channels/email/email.js";
import { ChannelError } from "../../../src/errors.js";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { type MailServer, startMailServer, withoutMailServer } from "../../support/fakes/mail/mail-server.js";
import { keepLog } from "../../support/log.js";
import { failureOf, never, recordPublish, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { emailOptions, mailsOf } from "../../support/worlds/channels/mail-kit.js";

type Answer = readonly [status: number, body: unknown];

/** A provider's token endpoint, which gives these answers in turn, and then the last of them again and again. */
async function openEndpoint(t: TestContext, answers: readonly Answer[]) {
  const asked: Readonly<Record<string, string>>[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    asked.push(Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString())));
    const [status, body] = answers[Math.min(asked.length, answers.length) - 1] ?? [500, ""];
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const login = { tokenUrl: `http://127.0.0.1:${port}/token`, clientId: "app", refreshToken: "refresh-1" };
  return { asked, login, file: join(tempFolder(t), "email-auth.json") };
}

const given = (token: string, more: object = {}): Answer => [200, { access_token: token, expires_in: 3600, ...more }];

test("an access token is asked for once, by all at the same time, and again shortly before it expires", async (t) => {
  const { asked, login, file } = await openEndpoint(t, [given("a"), given("b"), given("c")]);
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const tokens = createTokens({ ...login, clientSecret: "s3cret", scope: "mail" }, file);
  assert.deepEqual(await Promise.all([tokens.get(), tokens.get()]), ["a", "a"]);
  const form = { grant_type: "refresh_token", refresh_token: "refresh-1", client_id: "app" };
  assert.deepEqual(asked, [{ ...form, client_secret: "s3cret", scope: "mail" }]);
  t.mock.timers.tick(50 * 60_000);
  assert.equal(await tokens.get(), "a");
  t.mock.timers.tick(9.5 * 60_000);
  assert.equal(await tokens.get(), "b");
  tokens.forget("a");
  assert.equal(await tokens.get(), "b");
  tokens.forget("b");
  assert.equal(await tokens.get(), "c");
});

test("a new refresh token takes the place of the old one, also after a restart, until another one is configured", async (t) => {
  const refused: Answer = [400, { error: "invalid_grant" }];
  const answers = [given("a", { refresh_token: "refresh-2" }), given("b"), refused, given("c"), given("d")];
  const { asked, login, file } = await openEndpoint(t, answers);
  await createTokens(login, file).get();
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal(await createTokens(login, file).get(), "b");
  // The newer one is not good any more, which the configured one may be.
  assert.equal(await createTokens(login, file).get(), "c");
  assert.equal(await createTokens({ ...login, refreshToken: "refresh-3" }, file).get(), "d");
  assert.deepEqual(
    asked.map(({ refresh_token }) => refresh_token),
    ["refresh-1", "refresh-2", "refresh-2", "refresh-1", "refresh-3"],
  );
  await writeFile(file, "damaged");
  assert.equal(await createTokens(login, file).get(), "d");
  assert.equal(await readFile(file, "utf8"), "damaged");
});

test("who has to log in again is told so; an endpoint that is away is asked again", async (t) => {
  const { login, file } = await openEndpoint(t, [
    [400, { error: "invalid_grant", error_description: "Token has been expired or revoked." }],
    [503, "<html>"],
    [200, "<html>"],
    given("a"),
  ]);
  const tokens = createTokens(login, file);
  const revoked = await failureOf(tokens.get());
  assert.equal(revoked.retryable, false);
  assert.match(revoked.message, /log in again[\s\S]*invalid_grant: Token has been expired or revoked/);
  for (const _ of ["status 503", "no JSON"]) assert.equal((await failureOf(tokens.get())).retryable, true);
  assert.equal(await tokens.get(), "a");
  const away = await failureOf(createTokens({ ...login, tokenUrl: "http://127.0.0.1:1/token" }, file).get());
  assert.equal(away.retryable, true);
  assert.match(away.message, /ECONNREFUSED|bad port/);
  assert.doesNotMatch(`${revoked} ${away}`, /refresh-1/);
});

const skip = withoutMailServer();
const shared: { server?: MailServer } = {};
before(async () => {
  if (skip === false) shared.server = await startMailServer();
});
after(() => shared.server?.[Symbol.asyncDispose]());

test("both servers are logged in at with renewed tokens; one that they refuse is not shown to them again", {
  skip,
}, async (t) => {
  const { server } = shared;
  assert.ok(server !== undefined);
  const { asked, login, file } = await openEndpoint(t, [given("run-out"), given(server.password)]);
  server.addBox("bot");
  const ann = server.addBox("ann");
  const channel = createEmailChannel(
    emailOptions(server, "bot", keepLog(), {
      imap: { password: undefined },
      smtp: { password: undefined },
      access: { tokens: createTokens(login, file) },
    }),
    { cursor: async () => undefined },
  );
  const refused = await startChannel(channel, recordPublish().publish).ended;
  assert.ok(refused instanceof ChannelError && refused.retryable, String(refused));
  assert.match(refused.message, /access token/);
  await using running = startChannel(channel, recordPublish().publish);
  await until("it is connected", () => running.connections() > 0, 20_000);
  await channel.send(reply(ann, "by token"), never);
  await until("it is delivered", async () => (await mailsOf(server, "ann")).length === 1, 20_000);
  assert.equal(asked.length, 2);
});

test("a stop waits for no token endpoint that hangs", { skip }, async (t) => {
  const { server } = shared;
  assert.ok(server !== undefined);
  let asked = 0;
  const hanging = createServer(() => {
    asked += 1;
  });
  hanging.listen(0, "127.0.0.1");
  await once(hanging, "listening");
  t.after(() => {
    hanging.close();
    hanging.closeAllConnections();
  });
  const { port } = hanging.address() as AddressInfo;
  const login = { tokenUrl: `http://127.0.0.1:${port}/token`, clientId: "app", refreshToken: "refresh-1" };
  const tokens = createTokens(login, join(tempFolder(t), "email-auth.json"));
  const channel = createEmailChannel(emailOptions(server, "bot", keepLog(), { access: { tokens } }), {
    cursor: async () => undefined,
  });
  const running = startChannel(channel, recordPublish().publish);
  await until("it is asked", () => asked > 0, 10_000);
  let isStopped = false;
  void running.stop().then(() => {
    isStopped = true;
  });
  await until("it has stopped", () => isStopped, 10_000);
});

test("a mail waits while its login is refused for good", { skip }, async (t) => {
  const { server } = shared;
  assert.ok(server !== undefined);
  const { login, file } = await openEndpoint(t, [[400, { error: "invalid_grant" }]]);
  const options = emailOptions(server, "bot", keepLog(), { access: { tokens: createTokens(login, file) } });
  const channel = createEmailChannel(options, { cursor: async () => undefined });
  const failure = await failureOf(channel.send(reply(server.addBox("ann"), "x"), never));
  assert.deepEqual([failure.outcome, failure.retryable], ["refused", true]);
  const stopped = await startChannel(channel, recordPublish().publish).ended;
  assert.ok(stopped instanceof ChannelError && !stopped.retryable);
});

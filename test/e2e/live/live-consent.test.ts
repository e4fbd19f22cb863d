import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startGateway } from "../../support/worlds/gateway.js";
import { setLive } from "../../support/worlds/live-edit.js";

test("who takes back the consent to read a mailbox ends the connection to it at once, and can give it again", async () => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => open.delete(socket));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on TCP has an object as its address.
  const { port: imapPort } = server.address() as AddressInfo;
  const email = {
    ...{ enabled: true, consentGranted: true, imapHost: "127.0.0.1", imapPort, imapUseSSL: false, imapUseTLS: false },
    ...{ smtpHost: "127.0.0.1", imapUsername: "max@example.org", imapPassword: "secret" },
  };
  await using gateway = await startGateway({ config: { channels: { email } } });
  const stateOf = async () => (await gateway.gateway.api.status()).channels.find(({ name }) => name === "email");
  await until("the mailbox is connected to", () => open.size === 1);

  const without = await setLive(gateway, { "channels.email.consentGranted": false });
  assert.deepEqual([without.restart, without.problem], [[], undefined]);
  await until("the connection has ended", () => open.size === 0);
  const off = await stateOf();
  assert.equal(off?.state, "off");
  assert.match(off?.reason ?? "", /consentGranted is false/);
  assert.match((await gateway.gateway.api.status()).problems.join(), /channels\.email is off: consentGranted is false/);

  const again = await setLive(gateway, { "channels.email.consentGranted": true });
  assert.deepEqual([again.restart, again.problem], [[], undefined]);
  await until("the mailbox is connected to again", () => open.size === 1);
  assert.notEqual((await stateOf())?.state, "off");
  const { problems } = await gateway.gateway.api.status();
  assert.doesNotMatch(problems.join(), /consentGranted/);
  for (const socket of open) socket.destroy();
  server.close();
});

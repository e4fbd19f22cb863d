import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { gate, until } from "../../../support/engine/engine-kit.js";
import { sameDns } from "../../../support/fakes/mail/fake-dns.js";
import { withoutMailServer } from "../../../support/fakes/mail/mail-server.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { createEmailHarnesses } from "../../../support/worlds/channels/email-harness.js";
import { runMaxclaw, startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, startGateway, tempHome } from "../../../support/worlds/gateway.js";

const skip = withoutMailServer();
const harnesses = createEmailHarnesses();
after(() => harnesses[Symbol.asyncDispose]());

test("a mail is answered once after kill -9 between its acceptance and its answer, and mail of the meantime too", {
  skip,
}, async () => {
  await using harness = await harnesses.open();
  const [ann, bob] = harness.people;
  const held = gate();
  let asked = 0;
  await using model = await startFakeOpenAI({
    async answer(request) {
      asked += 1;
      if (asked === 1) await held.opened;
      return { text: `You said: ${request.userText.split("\n\n").at(-1)}` };
    },
  });
  const home = await tempHome();
  const channels = { email: { enabled: true, allowFrom: ["*"], ...harness.config } };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels })));
  {
    await using daemon = await startDaemon({ home, env: sameDns() });
    await harness.write({ from: ann, text: "one" });
    await until("the mail is accepted and asked about", () => asked === 1, 20_000);
    await daemon.end("SIGKILL");
  }
  held.open();
  await harness.write({ from: bob, text: "two" });
  await using daemon = await startDaemon({ home, env: sameDns() });
  const textsOf = (chatId: string) => harness.shown(chatId).map(({ text }) => text);
  await until("both are answered", () => textsOf(ann.chatId).length > 0 && textsOf(bob.chatId).length > 0, 20_000);
  await harness.write({ from: ann, text: "three" });
  await until("the third is answered", () => textsOf(ann.chatId).some((text) => text.includes("three")), 20_000);
  assert.deepEqual(textsOf(ann.chatId), ["You said: one", "You said: three"]);
  assert.deepEqual(textsOf(bob.chatId), ["You said: two"]);
  await daemon.end("SIGTERM");
  const { code, stdout } = await runMaxclaw(["ledger", "check"], home);
  assert.equal(code, 0, stdout);
});

test("the status says why a mailbox is not read, and that senders are not checked", { skip }, async () => {
  const email = {
    enabled: true,
    imapHost: "127.0.0.1",
    imapUsername: "a@b.example",
    imapPassword: "x",
    smtpHost: "127.0.0.1",
  };
  {
    await using world = await startGateway({ config: { channels: { email } } });
    const { channels, problems } = await world.gateway.api.status();
    assert.deepEqual(
      channels.map(({ name, state }) => [name, state]),
      [["email", "off"]],
    );
    assert.match(channels[0]?.reason ?? "", /consentGranted is false/);
    assert.ok(problems.some((problem) => problem.startsWith("channels.email is off: ")));
  }
  await using harness = await harnesses.open();
  await using world = await startGateway({
    config: { channels: { email: { ...harness.config, enabled: true, verifySender: "off" } } },
  });
  assert.ok((await world.gateway.api.status()).problems.some((problem) => /verifySender is "off"/.test(problem)));
  await until(
    "it is connected",
    async () => (await world.gateway.api.status()).channels[0]?.state === "connected",
    20_000,
  );
  const logged = () => readFile(join(world.home, "gateway.events.jsonl"), "utf8").catch(() => "");
  await until("the gateway's log says so", async () => /"channels.email.verifySender"/.test(await logged()), 20_000);
});

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gate, until } from "../../../support/engine/engine-kit.js";
import { sameDns } from "../../../support/fakes/mail/fake-dns.js";
import { withoutMailServer } from "../../../support/fakes/mail/mail-server.js";
import { openTwoAccounts } from "../../../support/worlds/channels/accounts/two-accounts.js";
import type { ChannelHarness } from "../../../support/worlds/channels/channel-harness.js";
import { createEmailHarnesses } from "../../../support/worlds/channels/email-harness.js";
import { wordsOf } from "../../../support/worlds/channels/harness-world.js";
import { openSlackHarness } from "../../../support/worlds/channels/slack-harness.js";
import { openTelegramHarness } from "../../../support/worlds/channels/telegram-harness.js";
import { runMaxclaw, startDaemon } from "../../../support/worlds/daemon.js";
import { startGateway } from "../../../support/worlds/gateway.js";

const mail = createEmailHarnesses();
after(() => mail[Symbol.asyncDispose]());

interface Case {
  readonly name: string;
  /** `word`: in its secrets. */
  readonly open: (word?: string) => Promise<ChannelHarness>;
  readonly skip: string | false;
  /** What makes its login fail, and what the status then says. */
  readonly wrong: Readonly<Record<string, unknown>>;
  readonly says: RegExp;
}

const cases: readonly Case[] = [
  {
    name: "slack-acme",
    open: openSlackHarness,
    skip: false,
    wrong: { botToken: "xoxb-wrong" },
    says: /channels\.slack-acme\.botToken/,
  },
  {
    name: "telegram-work",
    open: openTelegramHarness,
    skip: false,
    wrong: { token: "4243:wrong" },
    says: /channels\.telegram-work\.token/,
  },
  {
    name: "email-sales",
    open: () => mail.open(),
    skip: withoutMailServer(),
    wrong: { imapPassword: "wrong" },
    says: /channels\.email-sales\.imapUsername/,
  },
];

for (const { name, open, skip, wrong, says } of cases) {
  // Both far sides give out the same ids: people, chats, messages and the place itself are told apart by the account alone.
  test(`${name}: each answer goes out on the account on which its question came in`, { skip }, async () => {
    await using world = await openTwoAccounts(open, name);
    const { first, second } = world;
    await using gateway = await startGateway({ home: world.home, env: sameDns() });
    const accounts = [first, second];
    for (const account of accounts) await account.write({ from: account.people[0], text: `one to ${account.channel}` });
    for (const account of accounts) await world.seen(account, `one to ${account.channel}`);
    for (const account of accounts) await account.write({ from: account.people[0], text: `two to ${account.channel}` });
    for (const account of accounts) await world.seen(account, `two to ${account.channel}`);
    for (const account of accounts)
      assert.deepEqual(
        world.shown(account),
        ["one", "two"].map((word) => `You said: ${word} to ${account.channel}`),
      );
    const { sessions } = await gateway.gateway.api.listSessions({ limit: 10, offset: 0 });
    assert.ok(sessions.length >= 2);
    for (const account of accounts) assert.ok(sessions.some(({ key }) => key.startsWith(`${account.channel}:`)));
    const asked = accounts.map(({ channel }) => new RegExp(`to ${channel}(?![\\w-])`));
    for (const { bodyText } of world.model.requests)
      assert.equal(asked.filter((words) => words.test(bodyText)).length, 1, bodyText);
  });

  test(`${name}: kill -9 and a restart lose nothing and repeat nothing, on either account`, { skip }, async () => {
    const held = gate();
    let asked = 0;
    await using world = await openTwoAccounts(open, name, async (request) => {
      asked += 1;
      if (asked <= 2) await held.opened;
      return { text: `You said: ${wordsOf(request)}` };
    });
    const { first, second, home } = world;
    const accounts = [first, second];
    {
      await using daemon = await startDaemon({ home, env: sameDns() });
      for (const account of accounts) await account.write({ from: account.people[0], text: `one ${account.channel}.` });
      await until("both are accepted and asked about", () => asked === 2, 20_000);
      await daemon.end("SIGKILL");
    }
    held.open();
    for (const account of accounts) await account.write({ from: account.people[0], text: `two ${account.channel}.` });
    await using daemon = await startDaemon({ home, env: sameDns() });
    for (const account of accounts) {
      await world.seen(account, "one");
      await world.seen(account, "two");
    }
    for (const account of accounts) await account.write({ from: account.people[0], text: `three ${account.channel}.` });
    for (const account of accounts) {
      await world.seen(account, "three");
      const said = world.shown(account).join("\n");
      for (const word of ["one", "two", "three"])
        assert.equal(said.split(`${word} ${account.channel}.`).length, 2, said);
    }
    assert.doesNotMatch(world.shown(first).join(), new RegExp(second.channel));
    await daemon.end("SIGTERM");
    const { code, stdout } = await runMaxclaw(["ledger", "check"], home);
    assert.equal(code, 0, stdout);
  });

  test(`${name}: an account that is refused stops neither the other one nor the gateway, and is told by its own key`, {
    skip,
  }, async () => {
    await using world = await openTwoAccounts(open, name);
    const { first, second } = world;
    await world.write({}, wrong);
    await using gateway = await startGateway({ home: world.home, env: sameDns() });
    const stateOf = async (channel: string) =>
      (await gateway.gateway.api.status()).channels.find((one) => one.name === channel);
    await until("it is refused", async () => says.test((await stateOf(name))?.reason ?? ""), 20_000);
    await first.write({ from: first.people[0], text: "still there?" });
    await world.seen(first, "still there?");
    assert.equal((await stateOf(first.channel))?.state, "connected");
    assert.notEqual((await stateOf(name))?.state, "connected");
    assert.deepEqual(world.shown(second), []);
  });
}

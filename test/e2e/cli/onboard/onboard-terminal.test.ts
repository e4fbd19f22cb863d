import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startFakeDiscord } from "../../../support/fakes/fake-discord.js";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startFakeListing } from "../../../support/fakes/models/fake-listing.js";
import { freePort } from "../../../support/fakes/network/free-port.js";
import { type CliSandbox, openCli } from "../../../support/worlds/cli.js";
import { withoutProgram } from "../../../support/worlds/needs.js";
import { keys, openPty } from "../../../support/worlds/pty.js";

const skip = withoutProgram("script");
const telegramToken = "4242:of-the-bot";

async function write(cli: CliSandbox, text: string): Promise<void> {
  await mkdir(cli.home, { mode: 0o700 });
  await writeFile(join(cli.home, "config.json"), text, { mode: 0o600 });
}

const read = (cli: CliSandbox): Promise<string> => readFile(join(cli.home, "config.json"), "utf8");

describe("onboard in a terminal", { skip }, () => {
  it("sets up provider, key, model, Telegram and its owner, and asks again for what was wrong", async () => {
    await using cli = await openCli();
    await using provider = await startFakeListing({ key: "sk-right", models: ["text-embed", "small", "large"] });
    await using telegram = await startFakeTelegram({ token: telegramToken });
    // A fake has an address of its own; everything else is answered.
    const channels = `{ "telegram": { "apiRoot": "${telegram.url}" } }`;
    await write(
      cli,
      `{\n  // mine\n  "channels": ${channels},\n  "tools": { "exec": { "timeout": 77 } } // stays\n}\n`,
    );
    await using pty = openPty(cli, ["onboard", "--no-service"]);

    await pty.see(/Who runs the model\?/);
    pty.type("another");
    await pty.see(/another/i);
    pty.type(keys.enter);
    await pty.see(/Its name/);
    pty.type(`no name${keys.enter}`);
    await pty.see(/letters, digits/);
    pty.type(`${"\u007f".repeat(7)}acme${keys.enter}`);
    await pty.see(/Its address/);
    pty.type(`nowhere${keys.enter}`);
    await pty.see(/must begin with http/);
    pty.type(`${"\u007f".repeat(7)}${provider.apiBase}${keys.enter}`);
    await pty.see(/The API key of acme/);
    pty.type(`sk wrong${keys.enter}`);
    await pty.see(/A key has no spaces or line breaks inside/);
    pty.type(`${"\u007f".repeat(8)}sk-wrong${keys.enter}`);
    await pty.see(/acme does not take the key: .*401/);
    await pty.see(/The API key of acme/);
    pty.type(`sk-right${keys.enter}`);
    await pty.see(/takes the key, and has 3 models/);
    await pty.see(/Which model\?[\s\S]*small[\s\S]*large[\s\S]*text-embed[\s\S]*Another one/);
    pty.type(keys.down + keys.enter);

    await pty.see(/Where do you want to write to it\?/);
    pty.type(keys.enter);
    await pty.see(/The bot's token/);
    pty.type(`1:wrong${keys.enter}`);
    await pty.see(/Telegram does not know this bot token \(401\)/);
    await pty.see(/What now\?[\s\S]*Leave the channel out/);
    pty.type(keys.enter);
    await pty.see(/The bot's token/);
    pty.type(`${telegramToken}${keys.enter}`);
    await pty.see(/lets us in as @maxclaw_test_bot/);
    await pty.see(/Who are you on telegram\?/);
    pty.type(keys.enter);
    const [, code = ""] = /: (\S+)$/.exec(await pty.see(/as a direct message: \S+-\S{4}/)) ?? [];
    const stranger = { chat: { id: 66, type: "private" }, from: { id: 66, is_bot: false, first_name: "Eve" } };
    const early = telegram.pushMessage({ ...stranger, text: "AAAA-AAAA" });
    telegram.pushMessage({ text: `/start ${code.toLowerCase()}` });
    await pty.see(/It was Ada \(42\), who now has a test message/);
    await pty.see(/Next: maxclaw gateway/);
    assert.equal(await pty.ended, 0);

    const text = await read(cli);
    assert.match(text, /\/\/ mine[\s\S]*"timeout": 77[\s\S]*\/\/ stays/);
    const config = JSON.parse(text.replaceAll(/\/\/ (mine|stays)/g, ""));
    assert.deepEqual(config.providers.acme, { apiBase: provider.apiBase, apiKey: "sk-right" });
    assert.equal(config.agents.defaults.model, "acme/large");
    assert.deepEqual(config.channels.telegram, { apiRoot: telegram.url, enabled: true, token: telegramToken });
    assert.deepEqual(config.owners, ["telegram:42"]);
    assert.deepEqual(
      telegram.sent.map(({ chatId, text: said }) => [chatId, /this chat is yours/.test(said)]),
      [["42", true]],
      "nobody else was written to",
    );
    assert.ok(telegram.confirmedOffset <= early.updateId, "what a stranger wrote waits for the gateway");
    assert.deepEqual(new Set(provider.requests.map((one) => one.split(" ")[1])), new Set(["/v1/models"]));
    assert.ok(!pty.written.includes("sk-right") && !pty.written.includes(telegramToken), "no secret is shown");
  });

  it("keeps what was answered before Ctrl+C, says what, and writes nothing by halves", async () => {
    await using cli = await openCli();
    await using provider = await startFakeListing({ key: "k", models: ["small"] });
    {
      await using pty = openPty(cli, ["onboard", "--no-service"]);
      await pty.see(/Who runs the model\?/);
      pty.type(keys.ctrlC);
      await pty.see(/Stopped\. Nothing was changed\./);
      assert.equal(await pty.ended, 130);
      assert.equal(existsSync(join(cli.home, "config.json")), false);
    }
    await using pty = openPty(cli, ["onboard", "--provider", "acme", "--api-base", provider.apiBase]);
    await pty.see(/The API key/);
    pty.type(`k${keys.enter}`);
    await pty.see(/Which model\?/);
    pty.type(keys.enter);
    await pty.see(/Where do you want to write/);
    pty.type(keys.enter);
    await pty.see(/The bot's token/);
    pty.type(`half-a-tok${keys.ctrlC}`);
    await pty.see(/Stopped\. Kept: acme with the model acme\/small\. To go on: maxclaw onboard/);
    assert.equal(await pty.ended, 130);
    const config = JSON.parse(await read(cli));
    assert.deepEqual(config.channels.telegram, { enabled: false, token: "", allowFrom: [] });
    assert.equal(config.agents.defaults.model, "acme/small");
  });
});

describe("onboard in a terminal, when something is in the way", { skip }, () => {
  it("says that a provider cannot be reached, and asks whether to go on", async () => {
    await using cli = await openCli();
    const base = `http://127.0.0.1:${await freePort()}/v1`;
    await using pty = openPty(cli, [
      "onboard",
      "--provider",
      "acme",
      "--api-base",
      base,
      "--channel",
      "none",
      "--no-service",
    ]);
    await pty.see(/The API key of acme/);
    pty.type(`k${keys.enter}`);
    await pty.see(/acme could not be reached, so the key is not tested: .*ECONNREFUSED/);
    await pty.see(/What now\?[\s\S]*Try again[\s\S]*Go on without a test/);
    pty.type(keys.enter);
    await pty.see(/acme could not be reached/);
    await pty.see(/What now\?/);
    pty.type(keys.down + keys.enter);
    await pty.see(/Which model\?/);
    pty.type(`m${keys.enter}`);
    await pty.see(/Next: /);
    assert.equal(await pty.ended, 0);
    const config = JSON.parse(await read(cli));
    assert.deepEqual(config.providers.acme, { apiBase: base, apiKey: "k" });
    assert.equal(config.agents.defaults.model, "acme/m");
  });

  it("stops at once while a provider is silent", async () => {
    await using cli = await openCli();
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    // A server that listens on TCP has an object as its address.
    const base = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
    await using pty = openPty(cli, ["onboard", "--provider", "acme", "--api-base", base]);
    await pty.see(/The API key of acme/);
    const asked = once(silent, "request");
    pty.type(`k${keys.enter}`);
    await asked;
    pty.type(keys.ctrlC);
    await pty.see(/Stopped\. Nothing was changed\./, 5000);
    assert.equal(await pty.ended, 130);
    assert.equal(existsSync(join(cli.home, "config.json")), false);
    silent.closeAllConnections();
    silent.close();
  });

  it("changes on a rerun the one thing that is answered", async () => {
    await using cli = await openCli();
    await using provider = await startFakeListing({ key: "mine", models: ["small", "large"] });
    const mine = `{
  // the key of my sister
  "providers": { "acme": { "apiBase": "${provider.apiBase}", "apiKey": "mine" } },
  "agents": { "defaults": { "model": "acme/small" } },
  "channels": { "telegram": { "enabled": true, "token": "1:x" } },
  "owners": ["telegram:7"]
}
`;
    await write(cli, mine);
    await using pty = openPty(cli, ["onboard", "--provider", "acme", "--no-service"]);
    await pty.see(/stays, except for what you answer/);
    await pty.see(/Keep the key of acme that is there\?/);
    pty.type(keys.enter);
    await pty.see(/Which model\?[\s\S]*small[\s\S]*large/);
    pty.type(keys.down + keys.enter);
    await pty.see(/Where do you want to write to it\?[\s\S]*As it is: Telegram/);
    pty.type(keys.enter);
    await pty.see(/Set up: acme with the model acme\/large/);
    assert.equal(await pty.ended, 0);
    assert.equal(await read(cli), mine.replace("acme/small", "acme/large"));
  });

  it("goes back to the choice of a channel where no token is typed, and writes nothing of the first one", async () => {
    await using cli = await openCli();
    await using telegram = await startFakeTelegram({ token: telegramToken });
    const mine = `{ "channels": { "telegram": { "apiRoot": "${telegram.url}" } } }\n`;
    await write(cli, mine);
    await using pty = openPty(cli, ["onboard", "--no-service"]);
    await pty.see(/Who runs the model\?/);
    pty.type(`Nobody${keys.enter}`);
    const back = /Nothing was typed, so nothing of Telegram is changed\. Choose again, or go on without it/;
    for (const wrong of [false, true]) {
      await pty.see(/Where do you want to write to it\?/);
      pty.type(keys.enter);
      await pty.see(/The bot's token.*empty: back\)/);
      if (wrong) {
        pty.type(`1:wrong${keys.enter}`);
        await pty.see(/What now\?/);
        pty.type(keys.enter);
        await pty.see(/The bot's token/);
      }
      pty.type(keys.enter);
      await pty.see(back);
    }
    await pty.see(/Where do you want to write to it\?/);
    pty.type(keys.up + keys.enter);
    await pty.see(/Nothing was changed\./);
    assert.equal(await pty.ended, 0);
    assert.equal(await read(cli), mine);
  });

  it("leaves the listening when somebody wants to, asks again for an id that is none, and says what did not arrive", async () => {
    await using cli = await openCli();
    await using telegram = await startFakeTelegram({ token: telegramToken });
    await write(cli, `{ "channels": { "telegram": { "apiRoot": "${telegram.url}" } } }`);
    const flags = ["--channel", "telegram", "--token", telegramToken, "--no-service"];
    await using pty = openPty(cli, ["onboard", ...flags]);
    await pty.see(/Who runs the model\?/);
    pty.type(`Nobody${keys.enter}`);
    await pty.see(/lets us in as/);
    await pty.see(/Who are you on telegram\?/);
    pty.type(keys.enter);
    await pty.see(/as a direct message: \S+-\S{4}/);
    await pty.see(/Waiting for it/);
    pty.type(keys.enter);
    await pty.see(/Who are you on telegram\?/);
    pty.type(keys.down + keys.enter);
    await pty.see(/Your id there/);
    pty.type(`@ada${keys.enter}`);
    await pty.see(/"@ada" is not an id/);
    telegram.failNext({
      method: "sendMessage",
      status: 403,
      description: "Forbidden: bot can't initiate conversation",
    });
    pty.type(`${"\u007f".repeat(4)}42${keys.enter}`);
    await pty.see(/The test message did not reach telegram:42: .*Forbidden.*Write to it there first/);
    await pty.see(/Set up: Telegram \(@maxclaw_test_bot\) with telegram:42 as an owner/);
    assert.equal(await pty.ended, 0);
    assert.deepEqual(JSON.parse(await read(cli)).owners, ["telegram:42"]);
  });

  it("finds the owner on Discord by the code, and keeps nothing when it is stopped meanwhile", async () => {
    await using cli = await openCli();
    await using discord = await startFakeDiscord({ token: "of-the-bot" });
    const mine = `{ "channels": { "discord": { "apiRoot": "${discord.url}" } } }\n`;
    await write(cli, mine);
    const flags = ["--provider", "ollama", "--offline", "--model", "m"];
    assert.equal((await cli.run(["onboard", ...flags])).code, 0);
    const before = await read(cli);
    const channel = ["onboard", "--channel", "discord", "--token", "of-the-bot", "--no-service"];
    for (const stops of [true, false]) {
      await using pty = openPty(cli, channel);
      await pty.see(/Who runs the model\?/);
      pty.type(keys.enter);
      await pty.see(/lets us in as maxbot/);
      await pty.see(/Who are you on discord\?/);
      pty.type(keys.enter);
      const [, code = ""] = /: (\S+)$/.exec(await pty.see(/as a direct message: \S+-\S{4}/)) ?? [];
      if (stops) {
        pty.type(keys.ctrlC);
        await pty.see(/Stopped\./);
        assert.equal(await pty.ended, 130);
        assert.equal(await read(cli), before);
        continue;
      }
      const ada = { id: "77", username: "ada" };
      discord.write({ channelId: discord.dmOf("77"), author: ada, content: code });
      await pty.see(/It was ada \(77\), who now has a test message/);
      await pty.see(/Next: /);
      assert.equal(await pty.ended, 0);
    }
    const config = JSON.parse(await read(cli));
    assert.deepEqual(config.owners, ["discord:77"]);
    assert.equal(config.channels.discord.token, "of-the-bot");
    assert.deepEqual(discord.messagesIn(discord.dmOf("77")).length, 2);
  });
});

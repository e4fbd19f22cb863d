import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway, type TestGateway } from "../../../support/worlds/gateway.js";
import { pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { browserOfBlock } from "../../../support/worlds/http/page-block.js";
import { editLive, withSetting } from "../../../support/worlds/live-edit.js";
import type { FakeModelServer, ScriptedAnswer } from "../../../support/worlds/model-script.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const key = "sk-right-key";
const bearer = { headers: { authorization: "Bearer page-token" } };
/** What the browser itself says about a refusal that the page shows in its own words. */
const refusals = { expected: /the server responded with a status of 4\d\d/ };

/** A provider that lists its models to who has the key, and answers as `says`. */
async function startProvider(models: readonly string[], says: string): Promise<FakeModelServer> {
  return await startFakeOpenAI({
    answer({ method, headers }): ScriptedAnswer {
      if (headers.authorization !== `Bearer ${key}`)
        return { status: 401, body: { error: { message: "Incorrect API key provided" } } };
      if (method === "GET") return { status: 200, body: { data: models.map((id) => ({ id })) } };
      return { text: says };
    },
  });
}

async function stored({ home }: TestGateway) {
  return JSON.parse(await readFile(join(home, "config.json"), "utf8"));
}

async function typeProvider(page: Page, name: string, apiKey: string, apiBase: string): Promise<void> {
  await page.getByRole("radio", { name: new RegExp(`^${name}`) }).check();
  await page.getByLabel(`API key of ${name}`).fill(apiKey);
  await page.getByText("Another address", { exact: true }).click();
  await page.getByLabel("Address", { exact: true }).fill(apiBase);
  await page.getByRole("button", { name: "Test and save" }).click();
}

async function connectTelegram(page: Page, { url }: FakeTelegram, token: string): Promise<void> {
  await page.getByLabel("The bot's token").fill(token);
  await page.getByText("More", { exact: true }).click();
  await page.getByLabel("A server of your own").fill(url);
  await page.getByRole("button", { name: "Test and connect" }).click();
}

describe("setting up on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();

  pageTest(
    "models: a wrong key is refused in place, the right one is in force, a second provider helps out",
    async () => {
      await using first = await startProvider(["gpt-5", "gpt-5-mini", "text-embedding-3"], "The first one answers.");
      await using second = await startProvider(["llama-3.1-8b-instant"], "The second one answers.");
      await using gateway = await startGateway({ config: {} });
      await withPage(
        browser(),
        `${gateway.gateway.pageUrl}#/models`,
        async (page) => {
          const other = await (await browser().newContext()).newPage();
          await other.goto(gateway.gateway.pageUrl);
          await other.locator(".first-steps").waitFor();
          await page.getByText("No provider is set up yet").waitFor();
          await page.getByRole("button", { name: "Add a provider" }).click();
          await page.locator("main").getByLabel("Search").fill("openai");
          await typeProvider(page, "openai", "sk-wrong", first.apiBase);
          await page
            .getByRole("alert")
            .getByText(/openai does not take this key\. .*Incorrect API key/)
            .waitFor();
          assert.equal((await stored(gateway)).providers, undefined);

          await page.getByLabel("API key of openai").fill(key);
          await page.getByRole("button", { name: "Test and save" }).click();
          const card = page.getByRole("listitem", { name: "openai" });
          await card.getByText("It answers, and has 3 models.").waitFor();
          await page.getByRole("button", { name: "Choose a model" }).click();
          await page.getByText("$1.25 in, $10.00 out").waitFor();
          await page.getByRole("radio", { name: /^gpt-5-mini/ }).check();
          await page.getByRole("button", { name: "Use this model" }).click();
          await page.getByText("openai/gpt-5-mini answers from now on.").waitFor();
          await other.locator(".chip.model", { hasText: "openai/gpt-5-mini" }).waitFor();
          await other.locator(".first-steps").waitFor({ state: "detached" });
          assert.equal(await other.locator(".chip.stand-in").isVisible(), false);
          await editLive(gateway, (config) => withSetting(config, ["agents", "defaults", "model"], "openai/gpt-5"));
          await other.locator(".chip.model", { hasText: /^openai\/gpt-5$/ }).waitFor();
          await editLive(gateway, (config) =>
            withSetting(config, ["agents", "defaults", "model"], "openai/gpt-5-mini"),
          );
          await other.context().close();
          assert.equal((await gateway.ask("hello")).response, "The first one answers.");

          await page.getByRole("button", { name: "Add a provider" }).click();
          await typeProvider(page, "groq", key, second.apiBase);
          await page.getByRole("listitem", { name: "groq" }).getByText("It answers, and has one model.").waitFor();
          await page.getByRole("button", { name: "Add a model" }).click();
          await page.getByRole("radio", { name: /^groq\/llama/ }).check();
          await page.getByRole("button", { name: "Add a model" }).last().click();
          await page.getByRole("button", { name: "Remove groq/llama-3.1-8b-instant" }).waitFor();
          const { agents, providers } = await stored(gateway);
          assert.deepEqual(agents.defaults, {
            model: "openai/gpt-5-mini",
            fallbacks: ["groq/llama-3.1-8b-instant"],
          });
          assert.equal(providers.openai.apiKey, key);
          assert.doesNotMatch(await page.content(), /sk-right/);

          await card.getByRole("button", { name: "Test" }).click();
          await card.getByText(/was asked for its list of models: it answers, and has 3/).waitFor();

          await card.getByRole("button", { name: "Remove" }).click();
          await page
            .getByRole("dialog")
            .getByText(/Without openai it cannot/)
            .waitFor();
          await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
          await card.waitFor({ state: "detached" });
          assert.deepEqual(Object.keys((await stored(gateway)).providers), ["groq"]);
        },
        refusals,
      );
    },
  );

  pageTest("models: a server of one's own without a key is asked, saved and used without one", async () => {
    const seen: unknown[] = [];
    await using own = await startFakeOpenAI({
      answer({ method, headers }): ScriptedAnswer {
        seen.push(headers.authorization);
        return method === "GET" ? { status: 200, body: { data: [{ id: "home-made" }] } } : { text: "No key, no fuss." };
      },
    });
    await using gateway = await startGateway({ config: {} });
    await withPage(
      browser(),
      `${gateway.gateway.pageUrl}#/models`,
      async (page) => {
        await page.getByRole("button", { name: "Add a provider" }).click();
        await page.getByRole("radio", { name: /^Another one/ }).check();
        await page.getByLabel("Name", { exact: true }).fill("attic");
        await page.getByLabel("Address", { exact: true }).fill("http://127.0.0.1:9/v1");
        await page.getByRole("button", { name: "Test and save" }).click();
        await page
          .getByRole("alert")
          .getByText(/cannot be reached/)
          .waitFor();
        await page.getByLabel("Address", { exact: true }).fill(own.apiBase);
        await page.getByRole("button", { name: "Test and save" }).click();
        await page.getByRole("listitem", { name: "attic" }).getByText("It answers, and has one model.").waitFor();
        await page.getByRole("button", { name: "Choose a model" }).click();
        await page.getByRole("radio", { name: /^home-made/ }).check();
        await page.getByRole("button", { name: "Use this model" }).click();
        await page.getByText("attic/home-made answers from now on.").waitFor();
        assert.equal((await gateway.ask("hello")).response, "No key, no fuss.");
        assert.deepEqual([...new Set(seen)], [undefined]);
      },
      refusals,
    );
  });

  pageTest("first run: from no config to an answer, without a restart", async () => {
    await using model = await startProvider(["gpt-5-mini"], "Hello, I am set up.");
    await using telegram = await startFakeTelegram({ token: "4242:right" });
    await using gateway = await startGateway();
    await withPage(
      browser(),
      gateway.gateway.pageUrl,
      async (page) => {
        await page.getByRole("heading", { name: "Choose who answers" }).waitFor();
        await page.locator("main").getByLabel("Search").fill("openai");
        await typeProvider(page, "openai", "sk-wrong", model.apiBase);
        await page
          .getByRole("alert")
          .getByText(/openai does not take this key/)
          .waitFor();
        await page.getByLabel("API key of openai").fill(key);
        await page.getByRole("button", { name: "Test and save" }).click();
        await page.getByRole("heading", { name: "Choose a model" }).waitFor();
        await page.locator(".first-steps:focus").waitFor();
        await page.getByText("offline stand-in").waitFor({ state: "hidden" });
        assert.deepEqual(await page.locator(".banner.problem").allInnerTexts(), [], "the steps are about it");
        await page.getByRole("radio", { name: /^gpt-5-mini/ }).check();
        await page.getByRole("button", { name: "Use this model" }).click();
        await page.getByRole("heading", { name: "Where do you want to chat?" }).waitFor();
        await page.getByRole("button", { name: "Telegram" }).click();
        await connectTelegram(page, telegram, "4242:right");
        await page.getByText(/To make somebody an owner .* the gateway needs a token/).waitFor();
        await page.getByRole("button", { name: "Start chatting" }).click();
        await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
        await page.getByRole("textbox", { name: "Message" }).fill("hello");
        await page.keyboard.press("Enter");
        await page.getByRole("article").getByText("Hello, I am set up.").waitFor();
        await page.getByText("offline stand-in").waitFor({ state: "hidden" });
      },
      refusals,
    );
  });

  pageTest("first run: that no model is chosen is said once the steps are gone, and not beside them", async () => {
    await using model = await startProvider(["gpt-5-mini"], "Hello.");
    await using gateway = await startGateway({
      config: { providers: { openai: { apiKey: key, apiBase: model.apiBase } } },
    });
    await withPage(browser(), gateway.gateway.pageUrl, async (page) => {
      await page.getByRole("heading", { name: "Choose who answers" }).waitFor();
      assert.equal(await page.locator(".banner.problem").count(), 0);
      await page.getByRole("button", { name: "Not now" }).click();
      await page.locator(".banner.problem", { hasText: "No model is chosen." }).waitFor();
    });
  });

  pageTest("first run: who wants to wait chats with the stand-in, and is not asked again", async () => {
    await using gateway = await startGateway();
    await withPage(browser(), gateway.gateway.pageUrl, async (page) => {
      await page.getByRole("button", { name: "Not now" }).click();
      await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
      await page.reload();
      await page.getByText("offline stand-in", { exact: true }).waitFor();
      assert.equal(await page.getByRole("heading", { name: "Choose who answers" }).count(), 0);
      await page.getByRole("button", { name: "Choose who answers" }).click();
      await page.getByText("No provider is set up yet").waitFor();
    });
  });

  pageTest(
    "channels: a wrong token is refused in place, the right one connects, and a code makes me the owner",
    async () => {
      await using model = await startProvider(["gpt-5-mini"], "I hear you.");
      await using telegram = await startFakeTelegram({ token: "4242:right" });
      const config = openAIConfig(model.apiBase, { gateway: { token: "page-token" } });
      await using gateway = await startGateway({
        config: { ...config, providers: { openai: { apiKey: key, apiBase: model.apiBase } } },
      });
      await withPage(
        browser(),
        `${gateway.gateway.pageUrl}#/channels`,
        async (page) => {
          const card = page.getByRole("listitem", { name: "Telegram" });
          await card.getByRole("button", { name: "Set up" }).click();
          await connectTelegram(page, telegram, "4242:wrong");
          await card
            .getByRole("alert")
            .getByText(/BotFather/)
            .waitFor();
          assert.equal((await stored(gateway)).channels, undefined);
          await card.getByLabel("The bot's token").fill("4242:right");
          await card.getByRole("button", { name: "Test and connect" }).click();
          await card.getByText(/^Connected since/).waitFor();

          await card.getByRole("button", { name: "Show a code" }).click();
          const code = await card.locator(".person-code").innerText();
          telegram.pushText({ chatId: "42", userId: "42", name: "Ada", text: code });
          await card.getByText("Ada is an owner now.").waitFor();
          await card.getByText("owner", { exact: true }).waitFor();
          assert.deepEqual((await stored(gateway)).owners, ["telegram:42"]);
          telegram.pushText({ chatId: "42", userId: "42", name: "Ada", text: "do you hear me?" });
          const sent = await telegram.waitForSent(2);
          assert.match(sent.at(-1)?.text ?? "", /I hear you\./);
          await card.getByText(/^Last message/).waitFor();

          await card.getByRole("button", { name: "Test" }).click();
          await card.getByText("It was logged in once as @maxclaw_test_bot, and that works.").waitFor();
          await card.getByRole("button", { name: "Remove" }).click();
          await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
          await card.getByText("owner", { exact: true }).waitFor({ state: "detached" });
          await card.getByRole("switch").click();
          await card.getByText("Switched off.").waitFor();
        },
        { ...refusals, token: "page-token" },
      );
    },
  );

  pageTest("channels: the form shows what is set, keeps what is left as it is, and counts at once", async () => {
    await using model = await startProvider(["gpt-5-mini"], "I hear you.");
    await using telegram = await startFakeTelegram({ token: "4242:right" });
    await using other = await startFakeTelegram({ token: "4343:other" });
    const section = { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["7"] };
    await using gateway = await startGateway({
      config: {
        ...openAIConfig(model.apiBase, { gateway: { token: "page-token" }, channels: { telegram: section } }),
        providers: { openai: { apiKey: key, apiBase: model.apiBase } },
      },
    });
    await withPage(
      browser(),
      `${gateway.gateway.pageUrl}#/channels`,
      async (page) => {
        const card = page.getByRole("listitem", { name: "Telegram" });
        await card.getByText(/^Connected since/).waitFor();
        await card.getByRole("button", { name: "Change" }).click();
        await card.getByText("It is set, and stays as it is while this is empty.").waitFor();
        await card.getByText("More", { exact: true }).click();
        const server = card.getByLabel("A server of your own");
        assert.equal(await server.inputValue(), telegram.url);
        await card.getByRole("button", { name: "Test and connect" }).click();
        await card.getByText(/lets the assistant in/).waitFor();
        assert.deepEqual((await stored(gateway)).channels?.telegram, section);
        await card.getByRole("button", { name: "Change" }).click();
        await card.getByLabel("The bot's token").fill(other.token);
        await card.getByText("More", { exact: true }).click();
        await server.fill(other.url);
        await card.getByRole("button", { name: "Test and connect" }).click();
        await card.getByText(/lets the assistant in/).waitFor();
        other.pushText({ chatId: "7", userId: "7", name: "Ann", text: "are you there?" });
        assert.equal((await other.waitForSent(1))[0]?.text, "I hear you.");
        const next = { ...section, token: other.token, apiRoot: other.url };
        assert.deepEqual((await stored(gateway)).channels?.telegram, next);
        assert.equal(await page.getByText(/Restart the gateway/).count(), 0);
      },
      { token: "page-token", expected: /40\d/ },
    );
  });

  pageTest("channels: a further account has a card of its own beside its platform's", async () => {
    await using family = await startFakeTelegram({ token: "4242:family" });
    await using work = await startFakeTelegram({ token: "4243:work" });
    const section = ({ token, url }: FakeTelegram) => ({ enabled: true, token, apiRoot: url });
    const channels = { telegram: section(family), "telegram-work": section(work) };
    const owners = ["telegram:42", "telegram-work:43"];
    await using gateway = await startGateway({ config: openAIConfig("http://127.0.0.1:9", { channels, owners }) });
    await withPage(browser(), `${gateway.gateway.pageUrl}#/channels`, async (page) => {
      const [first, second] = ["Telegram", "Telegram (telegram-work)"].map((name) =>
        page.getByRole("listitem", { name, exact: true }),
      );
      assert.ok(first !== undefined && second !== undefined);
      await first.getByText(/^Connected since/).waitFor();
      await second.getByText(/^Connected since/).waitFor();
      const names = await page.locator(".cards > li h2").allInnerTexts();
      assert.deepEqual(names.slice(0, 3), ["Telegram", "Telegram (telegram-work)", "Discord"]);
      assert.deepEqual([await first.getByText("42").count(), await first.getByText("43").count()], [1, 0]);
      assert.deepEqual([await second.getByText("42").count(), await second.getByText("43").count()], [0, 1]);
      await second.getByRole("button", { name: "Test" }).click();
      await second.getByText(/^It was logged in once as @/).waitFor();
      await second.getByRole("switch").click();
      await second.getByText("Switched off.").waitFor();
      await first.getByText(/^Connected since/).waitFor();
      const now = (await stored(gateway)).channels;
      assert.deepEqual(now, { ...channels, "telegram-work": { ...channels["telegram-work"], enabled: false } });
      await page.goto(`${gateway.gateway.pageUrl}#/settings`);
      await page.locator("main").getByLabel("Search").fill("telegram-work");
      await page.getByText("Telegram (telegram-work)").first().waitFor();
    });
  });

  pageTest("channels: a further account is added, refused with a login that is in use, and taken away", async () => {
    await using family = await startFakeTelegram({ token: "4242:family" });
    await using work = await startFakeTelegram({ token: "4243:work" });
    const telegram = { enabled: true, token: family.token, apiRoot: family.url };
    const owners = ["telegram:42", "telegram-work:42"];
    const given = { channels: { telegram }, owners, gateway: { token: "page-token" } };
    const config = openAIConfig("http://127.0.0.1:9", given);
    await using gateway = await startGateway({ config });
    await withPage(
      browser(),
      `${gateway.gateway.pageUrl}#/channels`,
      async (page) => {
        const card = page.getByRole("listitem", { name: "Telegram", exact: true });
        await card.getByRole("button", { name: "Another account" }).click();
        await connectTelegram(page, work, "4242:family");
        const alert = card.getByRole("alert");
        await alert.getByText("Give the account a name first").waitFor();
        await card.getByLabel("What do you call it?").fill("Work");
        await card.getByText("It will be telegram-work wherever a channel is named.").waitFor();
        await card.getByRole("button", { name: "Test and connect" }).click();
        await alert.getByText(/channels\.telegram/).waitFor();
        assert.deepEqual((await stored(gateway)).channels, { telegram });

        await card.getByLabel("The bot's token").fill("4243:work");
        await card.getByRole("button", { name: "Test and connect" }).click();
        await card.getByText("Telegram (telegram-work) lets the assistant in").waitFor();
        const account = page.getByRole("listitem", { name: "Telegram (telegram-work)" });
        await account.getByText(/^Connected since/).waitFor();
        assert.equal(await account.getByRole("button", { name: "Another account" }).count(), 0);
        const added = { enabled: true, token: "4243:work", apiRoot: work.url };
        assert.deepEqual((await stored(gateway)).channels, { telegram, "telegram-work": added });

        await card.getByRole("button", { name: "Another account" }).click();
        await card.getByLabel("What do you call it?").fill("work");
        await card.getByRole("button", { name: "Test and connect" }).click();
        await alert.getByText("The name telegram-work is taken").waitFor();

        const pairings = new URL("api/pairings", gateway.gateway.pageUrl);
        const asked = async () => Object(await (await fetch(pairings, bearer)).json());
        work.pushText({ chatId: "6", userId: "6", name: "Ann", text: "let me in" });
        await until("Ann waits", async () => (await asked()).waiting.length === 1);
        const { code } = (await asked()).waiting[0];
        const headers = { ...bearer.headers, "content-type": "application/json" };
        await fetch(`${pairings}/approve`, { method: "POST", headers, body: JSON.stringify({ code }) });
        assert.equal((await asked()).paired.length, 1);
        work.pushText({ chatId: "7", userId: "7", name: "Bob", text: "me too" });
        await until("Bob waits", async () => (await asked()).waiting.length === 1);
        await account.getByRole("button", { name: "Remove the account" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
        await account.waitFor({ state: "detached" });
        const left = await stored(gateway);
        assert.deepEqual([left.channels, left.owners], [{ telegram }, ["telegram:42"]]);
        await until("nobody waits there", async () => (await asked()).waiting.length === 0);
        assert.deepEqual((await asked()).paired, []);
        await card.getByText(/^Connected since/).waitFor();
      },
      { ...refusals, token: "page-token" },
    );
  });
});

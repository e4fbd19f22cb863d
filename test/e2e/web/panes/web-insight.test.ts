import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const used = { input: 20_000, output: 5000, cacheRead: 1234 };

/** A gateway on which the reader has written something, so that there is something to see. */
async function backendWithTurn(config: Record<string, unknown> = {}): Promise<Backend> {
  return await startBackend({
    answer: () => ({ text: "Noted.", usage: used }),
    config: { agents: { defaults: { model: "openai/test-model", timezone: "UTC" } }, ...config },
  });
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
  await page.getByText("Noted.").first().waitFor();
}

describe("usage on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  pageTest("shows what a turn has cost, by day and by who has asked, and what is left of the budgets", async () => {
    const backend = await backendWithTurn({
      budgets: { day: { usd: 0.05 }, sender: { turns: 9 } },
      prices: { "test-model": { input: 1, output: 4, cacheRead: 0 } },
    });
    try {
      await withPage(browser, backend.url, async (page) => {
        await say(page, "hello");
        await page.getByRole("button", { name: "Usage" }).click();
        await page.getByRole("definition").filter({ hasText: "$0.04" }).waitFor();
        await page.locator(".usage-day", { hasText: "26,234 tokens" }).waitFor();

        const models = page.locator(".usage-shares", { hasText: "Models" });
        await models.getByRole("row", { name: "openai/test-model 1 26,234 $0.04" }).waitFor();
        const people = page.locator(".usage-shares", { hasText: "People" });
        await people.getByRole("row", { name: "You, on this page 1 26,234 $0.04" }).waitFor();
        const channels = page.locator(".usage-shares", { hasText: "Channels" });
        await channels.getByRole("row", { name: "This page 1 26,234 $0.04" }).waitFor();

        const day = page.locator(".card", { hasText: "Everything together" });
        assert.match(await day.innerText(), /\$0\.04 of \$0\.05 used\s+\$0\.01 left\s+Starts again: /);
        const turns = page.locator(".card", { hasText: "Person: You, on this page" });
        assert.match(await turns.innerText(), /1 messages? of 9 messages used\s+8 messages left/);

        // The bars by keyboard, and the table behind them.
        const chart = page.getByRole("slider", { name: "Day" });
        assert.match((await chart.getAttribute("aria-valuetext")) ?? "", /: \$0\.04$/);
        await chart.press("ArrowLeft");
        assert.match((await chart.getAttribute("aria-valuetext")) ?? "", /: \$0\.00$/);
        await chart.press("End");
        const table = page.getByRole("table", { name: "Usage by day" });
        assert.match(await table.innerText(), /1\s+26,234\s+\$0\.04/);
        assert.equal(await page.locator(".usage-bar").count(), 30);
        await page.getByText("90 days").click();
        await page.locator(".usage-bar").nth(89).waitFor({ state: "attached" });
        assert.match(page.url(), /#\/usage\/90$/);
        await page.getByText("Tokens", { exact: true }).first().click();
        assert.match((await chart.getAttribute("aria-valuetext")) ?? "", /26,234 tokens$/);
      });
    } finally {
      await backend.stop();
    }
  });

  pageTest("says that a price is not known, and shows in place what is wrong with a number of days", async () => {
    const backend = await backendWithTurn();
    try {
      await withPage(
        browser,
        backend.url,
        async (page) => {
          await say(page, "hello");
          await page.goto(`${backend.url}#/usage/7`);
          await page.getByText("The price of 1 of 1 answers is not known").waitFor();
          await page.locator(".usage-sum", { hasText: "Cost" }).getByText("unknown").waitFor();
          await page.getByText("No budget is set").waitFor();
          await page.goto(`${backend.url}#/usage/soon`);
          const wrong = page.getByRole("alert").filter({ hasText: "days: must be a whole number from 1 to 400." });
          await wrong.waitFor();
          await page.getByText("7 days").click();
          await wrong.waitFor({ state: "detached" });
        },
        { expected: /status of 400/ },
      );
    } finally {
      await backend.stop();
    }
  });
});

describe("the system on the web page", { timeout: 180_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  pageTest("says how the gateway and its channels are, and what the doctor finds", async () => {
    const telegram = { enabled: true, token: "4242:wrong", apiRoot: "http://127.0.0.1:9" };
    const backend = await backendWithTurn({ channels: { telegram } });
    try {
      await withPage(browser, backend.url, async (page) => {
        await page.getByRole("button", { name: "System" }).click();
        const facts = page.locator(".system-facts");
        await facts.getByText("openai/test-model").waitFor();
        assert.match(await facts.innerText(), /Memory\s+[\d.]+ MB\s+Disk\s+[\d.]+ [TG]B of [\d.]+ [TG]B free/);
        const channel = page.locator(".card", { hasText: "telegram" });
        await channel.getByText(/^(?:connecting|connecting again|not connected)$/).waitFor();

        await page.getByRole("button", { name: "Examine now" }).click();
        const score = page.getByRole("heading", { name: /^Security: \d+ of 100$/ });
        await score.waitFor({ timeout: 60_000 });
        const backups = page.locator(".card", { hasText: "There is no backup" });
        await backups.getByText("To do: maxclaw backup").waitFor();
        assert.equal(await page.getByText("sk-test-key").count(), 0);
      });
    } finally {
      await backend.stop();
    }
  });

  pageTest("shows the log as it grows, by level", async () => {
    const backend = await backendWithTurn();
    const log = join(backend.home, "logs", "gateway.log");
    const write = (level: string, message: string) =>
      appendFile(log, `${JSON.stringify({ level, time: new Date().toISOString(), message, key: "sk-test-key" })}\n`);
    try {
      await mkdir(join(backend.home, "logs"), { recursive: true });
      await write("info", "a first line");
      await withPage(browser, backend.url, async (page) => {
        await page.goto(`${backend.url}#/system`);
        const lines = page.getByRole("log", { name: "Lines of the log" });
        await lines.getByText("a first line").waitFor();
        assert.match(await lines.innerText(), /info a first line key=\*\*\*/);
        await write("warn", "a second line");
        await lines.getByText("a second line").waitFor();
        await page.getByText("Warnings").click();
        await lines.getByText("a first line").waitFor({ state: "detached" });
        await lines.getByText("a second line").waitFor();
        await write("info", "a third line");
        await write("error", "a fourth line");
        await lines.getByText("a fourth line").waitFor();
        assert.equal(await lines.getByText("a third line").count(), 0);
      });
    } finally {
      await backend.stop();
    }
  });

  pageTest("makes a backup without keys, and downloads it", async () => {
    const backend = await backendWithTurn();
    try {
      await withPage(browser, backend.url, async (page) => {
        await say(page, "hello");
        await page.goto(`${backend.url}#/system`);
        await page.getByText("No backup was made here yet.").waitFor();
        await page.getByRole("button", { name: "Make a backup" }).click();
        const card = page.locator(".card", { hasText: "maxclaw-backup-" });
        await card.waitFor();
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          card.getByRole("button", { name: "Download" }).click(),
        ]);
        assert.match(download.suggestedFilename(), /^maxclaw-backup-[\d-]+\.tar\.gz$/);
        const content = gunzipSync(await readFile(await download.path())).toString("latin1");
        assert.match(content, /home\/journal\//);
        assert.match(content, /workspace\/\.sessions\//);
        assert.doesNotMatch(content, /sk-test-key/);
      });
      const wrong = await fetch(`${backend.url}api/backups/${encodeURIComponent("../config.json")}`);
      assert.equal(wrong.status, 404);
      const level = await fetch(`${backend.url}api/logs?level=loud`);
      assert.equal(level.status, 400);
      assert.match(await level.text(), /level: must be one of debug, info, warn, error\./);
    } finally {
      await backend.stop();
    }
  });

  pageTest("sends a reply again that was given up, or deletes it, after a question", async () => {
    const token = "1:dead-letters";
    await using telegram = await startFakeTelegram({ token });
    const channel = { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] };
    const backend = await backendWithTurn({ channels: { telegram: channel } });
    try {
      const given = async (): Promise<number> =>
        ((await (await fetch(`${backend.url}api/dead`)).text()).match(/"kind":"reply"/g) ?? []).length;
      for (const chat of [42, 43]) {
        telegram.failNext({ method: "sendMessage", status: 403 });
        telegram.pushText({ chatId: chat, userId: chat, text: "hello" });
        await until("it is given up", async () => (await given()) === chat - 41, 15_000);
      }
      await withPage(browser, backend.url, async (page) => {
        await page.goto(`${backend.url}#/system`);
        const first = page.locator(".card", { hasText: "Reply to telegram:42" });
        await first.getByText("Noted.").waitFor();
        await first.getByText(/blocked/).waitFor();
        const before = telegram.sent.length;
        await first.getByRole("button", { name: "Try again" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
        assert.equal(await given(), 2, "nothing happens without a yes");
        await first.getByRole("button", { name: "Try again" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Try again" }).click();
        await first.waitFor({ state: "detached" });
        await until("it is sent", () => telegram.sent.length === before + 1, 15_000);
        const second = page.locator(".card", { hasText: "Reply to telegram:43" });
        await second.getByRole("button", { name: "Delete" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
        await page.getByText("There are none.").waitFor();
        assert.deepEqual([await given(), telegram.sent.at(-1)?.chatId], [0, "42"]);
        const ledger = async (): Promise<string> => await (await fetch(`${backend.url}api/ledger`)).text();
        await until("it counts as answered", async () => (await ledger()).includes('"end":"answered"'), 15_000);
        await page.getByRole("button", { name: "Count how all messages ended" }).click();
        await page.getByRole("definition").first().waitFor();
        const counts = page.getByRole("status").filter({ hasText: "Answered" });
        assert.match(await counts.innerText(), /Answered\s+1\s+Answered, but not delivered\s+1\s+Lost\s+0/);
        assert.doesNotMatch(await counts.innerText(), /damaged/);
        await appendFile(join(backend.home, "workspace/.sessions/telegram_43.events.jsonl"), "garbage\n");
        await page.getByRole("button", { name: "Count how all messages ended" }).click();
        await counts.getByText(/Not all messages of these chats .* damaged: telegram:43\./).waitFor();
      });
    } finally {
      await backend.stop();
    }
  });

  pageTest(
    "asks the package registry for a newer version when the button is pressed, and shows why there is no answer",
    async () => {
      const asked: string[] = [];
      const latest = { version: "999.0.0" };
      const registry = createServer(({ url = "" }, response) => {
        asked.push(url);
        const isThere = asked.length > 1;
        response.writeHead(isThere ? 200 : 403, { "content-type": "application/json" });
        const packument = { name: "maxclaw", "dist-tags": { latest: latest.version }, versions: {} };
        response.end(JSON.stringify({ ...packument, versions: { [latest.version]: { name: "maxclaw", ...latest } } }));
      });
      registry.listen(0, "127.0.0.1");
      await once(registry, "listening");
      const address = registry.address();
      const port = typeof address === "object" ? address?.port : undefined;
      const { npm_config_registry: usual } = process.env;
      process.env.npm_config_registry = `http://127.0.0.1:${port}/`;
      const backend = await backendWithTurn();
      try {
        const scenario = async (page: Page): Promise<void> => {
          await page.goto(`${backend.url}#/system`);
          const button = page.getByRole("button", { name: "Is there an update?" });
          await button.waitFor();
          await page.locator(".system-facts").waitFor();
          assert.deepEqual(asked, [], "nobody is asked before");
          await button.click();
          await page
            .locator(".action .problem-text")
            .getByText(/403|forbidden/i)
            .waitFor({ timeout: 60_000 });
          await button.click();
          await page.getByText("999.0.0 is there. You have 0.0.0-test.").waitFor({ timeout: 60_000 });
        };
        await withPage(browser, backend.url, scenario, { expected: /status of 503/ });
      } finally {
        if (usual === undefined) delete process.env.npm_config_registry;
        else process.env.npm_config_registry = usual;
        registry.close();
        registry.closeAllConnections();
        await backend.stop();
      }
    },
  );
});

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openChromium, pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../support/worlds/needs.js";

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

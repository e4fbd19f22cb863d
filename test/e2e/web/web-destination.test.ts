import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { until } from "../../support/engine/engine-kit.js";
import { openHarnessWorld } from "../../support/worlds/channels/harness-world.js";
import { openWebSocketHarness } from "../../support/worlds/channels/websocket-harness.js";
import { openChromium, pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { withoutChromium } from "../../support/worlds/needs.js";

describe("a chat of another channel on the web page", { timeout: 60_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  pageTest("says where the answer goes, and sends it there too when the reader wants that", async () => {
    await using world = await openHarnessWorld(openWebSocketHarness);
    const [ann] = world.harness.people;
    await world.harness.write({ from: ann, text: "good morning" });
    await world.seen(ann.chatId, "You said: good morning");
    const { pageUrl } = world.gateway.gateway;
    await withPage(browser, pageUrl, async (page) => {
      const where = page.getByLabel(/The answer is seen/);
      await page.getByLabel("Message", { exact: true }).waitFor();
      assert.equal(await where.isVisible(), false, "a chat of the page is read on the page");
      await page.locator(".session", { hasText: "good morning" }).click();
      await where.waitFor();
      await say(page, "only for me");
      await where.selectOption("here and on websocket");
      await say(page, "for both");
      await world.seen(ann.chatId, /^> for both\n\nYou said: for both$/);
      await say(page, "/status", /Model/);
      await page.reload();
      await where.waitFor();
      assert.equal(await where.inputValue(), "there", "the chat keeps the choice");
      await say(page, "once more");
      await world.seen(ann.chatId, /^> once more/);
    });
    const texts = world.harness.shown(ann.chatId).map(({ text }) => text);
    assert.deepEqual(
      texts.filter((text) => /only for me|Model/.test(text)),
      [],
    );
  });
});

async function say(page: Page, text: string, answer: string | RegExp = `You said: ${text}`): Promise<void> {
  const field = page.getByLabel("Message", { exact: true });
  await field.fill(text);
  await field.press("Enter");
  await page.locator(".message.assistant, .notice-text", { hasText: answer }).last().waitFor();
  await until("it is sent", async () => (await page.locator(".pending").count()) === 0);
}

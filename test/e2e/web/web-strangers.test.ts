import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser } from "playwright-core";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { openHarnessWorld } from "../../support/worlds/channels/harness-world.js";
import { openWebSocketHarness } from "../../support/worlds/channels/websocket-harness.js";
import { startGateway } from "../../support/worlds/gateway.js";
import { openChromium, pageTest } from "../../support/worlds/http/chromium.js";
import { withoutChromium } from "../../support/worlds/needs.js";

describe("channels on the web page", { timeout: 60_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  pageTest("a channel that is lost is shown with its reason", async () => {
    await using telegram = await startFakeTelegram({ token: "4242:right" });
    const channel = { enabled: true, token: "4242:wrong", apiRoot: telegram.url };
    await using gateway = await startGateway({ config: { channels: { telegram: channel } } });
    const lost = async () => (await gateway.gateway.api.status()).channels[0]?.state === "disconnected";
    await until("the token is refused", lost);
    const page = await browser.newPage();
    try {
      page.setDefaultTimeout(20_000);
      await page.goto(gateway.gateway.pageUrl);
      const banner = page.locator(".banner.problem", { hasText: "telegram is disconnected" });
      await banner.getByText(/Put the token that @BotFather shows into channels\.telegram\.token/).waitFor();
    } finally {
      await page.close();
    }
  });

  pageTest("who waits is shown with name and code, and a click lets them in", async () => {
    await using world = await openHarnessWorld(openWebSocketHarness, { allowFrom: [] });
    const { harness } = world;
    const [ann, bob] = harness.people;
    for (const from of [ann, bob]) await harness.write({ from, text: "hello?" });
    for (const { chatId } of [ann, bob]) await world.seen(chatId, /maxclaw pair approve/);
    const page = await browser.newPage();
    try {
      page.setDefaultTimeout(20_000);
      await page.goto(world.gateway.gateway.pageUrl);
      const card = page.locator(".stranger", { hasText: "ann wants to talk to the assistant on websocket" });
      await card.getByText(/Their code is [A-HJKMNP-Z2-9]{8}\./).waitFor();
      await page.locator(".stranger", { hasText: "bob" }).getByRole("button", { name: "Dismiss" }).click();
      await card.getByRole("button", { name: "Let in" }).click();
      await until("no card is left", async () => (await page.locator(".stranger").count()) === 0, 20_000);
    } finally {
      await page.close();
    }
    const { paired, waiting } = world.gateway.gateway.api.listPairings();
    assert.deepEqual(
      [paired.map(({ senderId }) => senderId), waiting.map(({ senderId }) => senderId)],
      [["ann"], ["bob"]],
    );
    await harness.write({ from: ann, text: "thanks" });
    await world.seen(ann.chatId, "You said: thanks");
  });
});

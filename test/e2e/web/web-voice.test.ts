import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeTranscription } from "../../support/fakes/models/fake-transcription.js";
import { openChromium, pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { startBackend } from "../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../support/worlds/needs.js";

describe("what is spoken on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  const onPage = async (config: Record<string, unknown>, scenario: (page: Page) => Promise<void>): Promise<void> => {
    const backend = await startBackend({ config });
    try {
      // The browser itself says that the service was refused.
      await withPage(browser, backend.url, scenario, { expected: /409|502/ });
    } finally {
      await backend.stop();
    }
  };
  const field = (page: Page) => page.getByLabel("Message", { exact: true });
  const speak = (page: Page) => page.getByRole("button", { name: /^Speak/ });
  const listening = (page: Page) => page.getByText(/^Listening, 0:0[1-9]/);

  pageTest(
    "is written down where the cursor is: a press begins and ends it, or it is held, or the keyboard does it",
    async () => {
      await using service = await startFakeTranscription("  water the plants ");
      await onPage({ transcription: { apiBase: service.apiBase } }, async (page) => {
        await field(page).fill("please");
        await speak(page).click();
        await listening(page).waitFor();
        assert.equal(await speak(page).getAttribute("aria-pressed"), "true");
        await speak(page).click();
        await until("it is written", async () => (await field(page).inputValue()) === "please water the plants");
        await speak(page).hover();
        await page.mouse.down();
        await listening(page).waitFor();
        await page.mouse.up();
        await until("the second", async () => /plants water the plants$/.test(await field(page).inputValue()));
        await speak(page).press("Enter");
        await listening(page).waitFor();
        await speak(page).press("Enter");
        await until("the third", async () => (await field(page).inputValue()).match(/water/g)?.length === 3);
        await speak(page).click();
        await listening(page).waitFor();
        await page.keyboard.press("Escape");
        await until("it is left", async () => (await speak(page).getAttribute("aria-pressed")) === "false");
        assert.equal(await page.getByText(/^Listening|^Writing/).count(), 0);
      });
      assert.equal(service.requests.length, 3);
      for (const { bytes } of service.requests) assert.ok(bytes.length > 500, "a recording of some length");
    },
  );

  pageTest("an answer is read aloud in pieces, as it looks, and stops when the reader wants that", () =>
    onPage({}, async (page) => {
      // Chromium without a window has no voice: what it would say is written down instead.
      await page.addInitScript(`
        window.said = [];
        window.voice = { speaking: false, speak: (one) => { said.push(one.text); voice.speaking = true; }, cancel: () => { voice.speaking = false; } };
        Object.defineProperty(window, "speechSynthesis", { value: voice });`);
      await page.reload();
      await field(page).fill("greet me");
      await field(page).press("Enter");
      const answer = page.locator(".message.assistant", { hasText: "friend" });
      const menu = async (name: string): Promise<void> => {
        await answer.hover();
        await answer.getByRole("button", { name: "More" }).click();
        await page.getByRole("menuitem", { name }).click();
      };
      await answer.waitFor();
      await menu("Read aloud");
      assert.deepEqual(await page.evaluate("said"), ["Hello there, friend."]);
      await menu("Stop reading");
      assert.equal(await page.evaluate("voice.speaking"), false);
      await menu("What happened here");
      await page.waitForURL(/#\/timeline\//);
    }),
  );

  pageTest("is attached as a file where nobody writes it down, and the page says what to do", () =>
    onPage({}, async (page) => {
      await speak(page).click();
      await listening(page).waitFor();
      await speak(page).click();
      await page.getByText(/Set transcription\.apiKey in the config\. What you said is attached as a file\./).waitFor();
      await page
        .getByRole("list", { name: "Attached files" })
        .getByText(/^voice\./)
        .waitFor();
    }),
  );
});

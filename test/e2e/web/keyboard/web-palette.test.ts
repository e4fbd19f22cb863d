import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const focusedId = "document.activeElement?.id";

describe("the palette of the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend({ history: { "webui:0000beef": 40, "telegram:42": 2 } });
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  const onPage = (scenario: (page: Page) => Promise<void>, context?: BrowserContextOptions): Promise<void> =>
    withPage(browser, backend.url, scenario, { context });
  const palette = (page: Page) => page.getByRole("dialog", { name: "Find and do" });
  const field = (page: Page) => palette(page).getByRole("combobox");

  async function open(page: Page): Promise<void> {
    await page.locator(".session").first().waitFor();
    await page.keyboard.press("Control+k");
    await field(page).waitFor();
  }

  pageTest("Ctrl+K finds pages, and its code is fetched then; Esc gives the focus back", () =>
    onPage(async (page) => {
      const scripts: string[] = [];
      page.on("request", (request) => scripts.push(new URL(request.url()).pathname));
      await open(page);
      assert.ok(
        scripts.some((path) => /\/palette-[\w-]+\.js$/.test(path)),
        scripts.join(" "),
      );
      await page.keyboard.press("Escape");
      await palette(page).waitFor({ state: "detached" });
      assert.equal(await page.evaluate(focusedId), "message");
      await open(page);
      await page.keyboard.type("jobs");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
      assert.equal(new URL(page.url()).hash, "#/jobs");
      // The focus is not lost with the field.
      await page.getByRole("region", { name: "Jobs" }).and(page.locator(":focus")).waitFor();
    }),
  );

  pageTest("what is typed while its code is on its way goes into it, and not into the message", () =>
    withPage(browser, backend.url, async (page) => {
      let letThrough = (): void => {};
      const isTyped = new Promise<void>((resolve) => {
        letThrough = resolve;
      });
      await page.route(/\/assets\/palette-[\w-]+\.js$/, async (route) => {
        await isTyped;
        await route.continue();
      });
      await page.locator(".session").first().waitFor();
      await page.keyboard.press("Control+k");
      await page.keyboard.type("jobx");
      await page.keyboard.press("Backspace");
      await page.keyboard.press("Enter");
      letThrough();
      await field(page).waitFor();
      await page.keyboard.type("s");
      assert.equal(await field(page).inputValue(), "jobs");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
      assert.equal(await page.locator("#message").inputValue(), "");
    }),
  );

  pageTest("finds chats by title and by what was said in them, and opens them there", () =>
    onPage(async (page) => {
      await open(page);
      await page.keyboard.type('"question 17"');
      const hit = palette(page).getByRole("option", { name: /Question 17/ });
      await hit.waitFor();
      await hit.click();
      assert.equal(new URL(page.url()).hash, "#webui:0000beef");
      await page.locator(".message.found", { hasText: "Question 17" }).waitFor();
      await open(page);
      const rest = palette(page).getByText("The newest 12 messages are shown. Add a word to find fewer.");
      assert.equal(await rest.count(), 0);
      await page.keyboard.type("question");
      await rest.waitFor();
      assert.equal(
        await palette(page).getByRole("group", { name: "Found in messages" }).getByRole("option").count(),
        12,
      );
      await page.keyboard.type(" 17");
      await rest.waitFor({ state: "hidden" });
      await hit.first().waitFor();
      await page.keyboard.press("Escape");
      await open(page);
      await page.keyboard.type("telegram");
      await palette(page).getByRole("group", { name: "Chats" }).getByRole("option").first().waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(/#telegram:42$/);
      await open(page);
      await page.keyboard.type("zzz no such thing");
      await palette(page).getByText("Nothing found").waitFor();
    }),
  );

  pageTest("renames the open chat and begins a new one; each dialog gives the focus back", () =>
    onPage(async (page) => {
      await page.goto(`${backend.url}#webui:0000beef`);
      await page.locator(".message").first().waitFor();
      await open(page);
      await page.keyboard.type("rename");
      await page.keyboard.press("Enter");
      await page.getByLabel("Title").fill("Trains of May");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Trains of May", level: 1 }).waitFor();
      assert.equal(await page.evaluate(focusedId), "message");
      await open(page);
      await page.keyboard.type("new chat");
      await page.getByRole("option", { name: "New chat", exact: true }).click();
      await page.getByRole("heading", { name: "New chat", level: 1 }).waitFor();
      assert.equal(await page.evaluate(focusedId), "message");
    }),
  );

  pageTest("a question mark outside of fields shows the shortcuts; in a field it is a question mark", () =>
    onPage(async (page) => {
      await page.locator(".session").first().waitFor();
      await page.keyboard.type("?");
      assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "?");
      await page.getByRole("button", { name: "Jobs" }).focus();
      await page.keyboard.press("?");
      const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
      await dialog.waitFor();
      await page.keyboard.press("Control+k");
      assert.equal(await palette(page).count(), 0, "not above another dialog");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      assert.match(String(await page.evaluate("document.activeElement?.textContent")), /Jobs/);
    }),
  );

  pageTest("a button opens it on a phone, where a tap chooses and lines are large enough", () =>
    onPage(async (page) => {
      await page.getByRole("button", { name: /^Find chats/ }).tap();
      const line = palette(page).getByRole("option", { name: /^Usage/ });
      await line.waitFor();
      assert.ok(((await line.boundingBox())?.height ?? 0) >= 44);
      const box = await palette(page).boundingBox();
      assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 390 && box.y >= 0 && box.y + box.height <= 844);
      await line.tap();
      await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
    }, phone),
  );
});

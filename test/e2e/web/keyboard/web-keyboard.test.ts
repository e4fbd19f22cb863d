import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/** Name or text of what has the focus. */
const focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent";
/** Which chat of the list has it. */
const rowAt = "[...document.querySelectorAll('.session-open')].indexOf(document.activeElement)";
const tabStops = (selector: string) => `document.querySelectorAll('${selector}:not([tabindex="-1"])').length`;

describe("the web page by keyboard", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend({ history: { "webui:0000beef": 3, "webui:0000cafe": 2, "telegram:42": 1 } });
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  const onPage = (scenario: (page: Page) => Promise<void>, context?: BrowserContextOptions): Promise<void> =>
    withPage(browser, backend.url, scenario, { context });
  const rows = (page: Page) => page.locator(".session-open");

  pageTest("begins in the field, but not on a phone, where the keyboard would come up", async () => {
    const opened = async (page: Page): Promise<unknown> => {
      await rows(page).first().waitFor({ state: "attached" });
      return await page.evaluate("document.activeElement?.id");
    };
    await onPage(async (page) => assert.equal(await opened(page), "message"));
    await onPage(async (page) => assert.notEqual(await opened(page), "message"), phone);
  });

  pageTest("the first stop of the Tab key leads past the lists to the conversation", () =>
    onPage(async (page) => {
      await page.goto("about:blank");
      await page.goto(`${backend.url}#/jobs`);
      await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(focused), "Go to the conversation");
      await page.keyboard.press("Enter");
      assert.equal(await page.evaluate("document.activeElement?.id"), "main");
      assert.equal(new URL(page.url()).hash, "#/jobs");
    }),
  );

  pageTest("who goes from place to place goes on in what has come, whichever way they went", () =>
    onPage(async (page) => {
      const went = async (name: string): Promise<void> => {
        await page.locator(".pane-page:not(.is-settling)").waitFor();
        assert.equal(await page.evaluate("document.activeElement?.role"), "region", name);
        await page.getByRole("region", { name }).and(page.locator(":focus")).waitFor();
      };
      await rows(page).first().waitFor();
      assert.equal(await page.evaluate("document.activeElement?.id"), "message");
      // A link, or what the reader types as the address.
      await page.evaluate("location.hash = '#/jobs'");
      await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
      await went("Jobs");
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(focused), "New job");
      await page.evaluate("location.hash = '#/usage'");
      await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
      await went("Usage");
      await page.goBack();
      await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
      await went("Jobs");
      await page.goBack();
      await page.locator("#message:focus").waitFor();
      // From the palette, which is gone.
      await page.keyboard.press("Control+k");
      await page.keyboard.type("System");
      await page
        .getByRole("option", { name: /^System/ })
        .first()
        .waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "System", level: 1 }).waitFor();
      await went("System");
      // Who chooses beside it may choose another.
      await page.getByRole("button", { name: "Jobs", exact: true }).press("Enter");
      await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
      assert.equal(await page.evaluate(focused), "Jobs");
      assert.equal(await page.locator("[aria-live=polite].off-screen").first().textContent(), "Jobs");
    }),
  );

  pageTest("chats, rail and settings are one stop of the Tab key each; arrows, Home and End move in them", () =>
    onPage(async (page) => {
      await rows(page).nth(2).waitFor();
      for (const selector of [".rail-item", ".session-open", ".session-actions .icon-button"])
        assert.equal(await page.evaluate(tabStops(selector)), 1, selector);
      await rows(page).first().focus();
      await page.keyboard.press("ArrowDown");
      assert.equal(await page.evaluate(rowAt), 1);
      await page.keyboard.press("End");
      assert.equal(await page.evaluate(rowAt), 2);
      await page.keyboard.press("Tab");
      assert.match(String(await page.evaluate(focused)), /^Actions for/);
      assert.equal(await page.evaluate(tabStops(".session-open")), 1);
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Home");
      assert.equal(await page.evaluate(rowAt), 0);
      await page.getByRole("button", { name: "Chats", exact: true }).focus();
      await page.keyboard.press("End");
      assert.equal(await page.evaluate(focused), "Settings");
      await page.keyboard.press("Enter");
      const names = await page.locator(".side-item").allTextContents();
      await page.getByRole("heading", { name: names[0] ?? "", level: 1 }).waitFor();
      assert.equal(await page.evaluate(tabStops(".side-item")), 1);
      await page.locator(".side-item").first().focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: names[1] ?? "", level: 1 }).waitFor();
      assert.equal(await page.evaluate("document.activeElement?.className"), "side-item");
    }),
  );

  pageTest("the focus is not lost when a chat is renamed, pinned, archived or deleted", () =>
    onPage(async (page) => {
      await rows(page).nth(2).waitFor();
      const pick = async (row: number, what: string): Promise<void> => {
        await rows(page).nth(row).focus();
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.getByRole("menuitem", { name: what }).focus();
        await page.keyboard.press("Enter");
      };
      const isInList = "document.activeElement?.closest('.pane') !== null && document.activeElement !== document.body";
      await pick(2, "Rename");
      await page.getByLabel("Title").fill("Old things");
      await page.keyboard.press("Enter");
      await page.locator(".session-name", { hasText: "Old things" }).waitFor();
      assert.equal(await page.evaluate(focused), "Actions for Old things");
      await pick(2, "Rename");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      assert.equal(await page.evaluate(focused), "Actions for Old things");
      await pick(2, "Pin");
      await page.getByRole("list", { name: "Pinned" }).getByText("Old things").waitFor();
      assert.equal(await page.evaluate(focused), "Actions for Old things");
      await pick(0, "Archive");
      await page.locator(".session-name", { hasText: "Old things" }).waitFor({ state: "detached" });
      assert.ok(await page.evaluate(isInList), String(await page.evaluate(focused)));
      await pick(1, "Delete");
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await rows(page).nth(1).waitFor({ state: "detached" });
      assert.ok(await page.evaluate(isInList), String(await page.evaluate(focused)));
    }),
  );

  pageTest("the drawer of a phone gives the focus to what it opens", () =>
    onPage(async (page) => {
      await page.getByRole("button", { name: /^Menu/ }).click();
      await page.getByRole("button", { name: "Jobs" }).press("Enter");
      await page.getByRole("region", { name: "Jobs" }).and(page.locator(":focus")).waitFor();
    }, phone),
  );
});

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

describe("commands on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend();
    const folder = join(backend.home, "workspace", "skills", "weather");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), "---\nname: weather\ndescription: Tells the weather\n---\nLook outside.\n");
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  const onPage = (scenario: (page: Page) => Promise<void>, context?: BrowserContextOptions): Promise<void> =>
    withPage(browser, backend.url, scenario, { context });
  const options = (page: Page) => page.getByRole("option");
  const field = (page: Page) => page.getByLabel("Message", { exact: true });

  pageTest("a slash lists commands and skills, which typing filters and the keyboard chooses", () =>
    onPage(async (page) => {
      await field(page).pressSequentially("/");
      await page.getByRole("listbox", { name: "Commands and skills" }).waitFor();
      await page.getByRole("option", { name: /^\/help/ }).waitFor();
      await page.getByRole("option", { name: /^weather/ }).waitFor();
      assert.equal(await page.getByRole("option", { selected: true }).count(), 1);
      await page.keyboard.type("mo");
      await page.locator('.command[aria-selected="true"]', { hasText: "/model" }).waitFor();
      const active = await field(page).getAttribute("aria-activedescendant");
      assert.equal(await page.locator(`#${active}`).getAttribute("aria-selected"), "true");
      await page.keyboard.press("Enter");
      assert.equal(await field(page).inputValue(), "/model ");
      assert.equal(await page.evaluate("document.activeElement?.id"), "message");
      assert.equal(await page.evaluate("document.activeElement?.selectionStart"), 7);
      assert.equal(await options(page).count(), 0);
      assert.equal(await field(page).getAttribute("aria-activedescendant"), null);
      assert.equal(await page.locator(".message").count(), 0, "nothing was sent");
    }),
  );

  pageTest("arrows go round, Tab takes a line, Esc closes the list until another word is typed", () =>
    onPage(async (page) => {
      await field(page).pressSequentially("/");
      await options(page).first().waitFor();
      await page.keyboard.press("ArrowUp");
      const last = await page.getByRole("option", { selected: true }).textContent();
      assert.equal(last, await options(page).last().textContent());
      await page.keyboard.press("ArrowDown");
      assert.match((await page.getByRole("option", { selected: true }).textContent()) ?? "", /^\/help/);
      await page.keyboard.press("Escape");
      assert.equal(await options(page).count(), 0);
      assert.equal(await field(page).inputValue(), "/");
      await page.keyboard.type("weath");
      await page.keyboard.press("Tab");
      assert.equal(await field(page).inputValue(), "@skill:weather ");
      await field(page).fill("what/ever /help");
      assert.equal(await options(page).count(), 0);
    }),
  );

  pageTest("what is typed to its end is sent as it is, and answered", () =>
    onPage(async (page) => {
      await field(page).pressSequentially("/help");
      await options(page).first().waitFor();
      await page.keyboard.press("Enter");
      await page.locator(".message.assistant", { hasText: "/status" }).waitFor();
    }),
  );

  pageTest("on a phone a tap chooses, each line is large enough, and the list is in sight", () =>
    onPage(async (page) => {
      await field(page).tap();
      await page.keyboard.type("/");
      const line = page.getByRole("option", { name: /^\/plan/ });
      await line.waitFor();
      const list = await page.getByRole("listbox").boundingBox();
      assert.ok(list !== null && list.y >= 0 && list.x >= 0 && list.x + list.width <= 390, JSON.stringify(list));
      assert.ok(((await line.boundingBox())?.height ?? 0) >= 44);
      await line.tap();
      assert.equal(await field(page).inputValue(), "/plan ");
      assert.equal(await page.evaluate("document.activeElement?.id"), "message");
    }, phone),
  );

  pageTest("a command is answered while a question is open, which stays open", () =>
    onPage(async (page) => {
      await field(page).fill("ask me");
      await page.keyboard.press("Enter");
      const card = page.locator(".question-card");
      await card.getByText("Which train shall I book?").waitFor();
      await field(page).fill("/usage");
      await page.keyboard.press("Enter");
      await page.locator(".message.assistant", { hasText: "This conversation:" }).waitFor();
      assert.equal(await card.count(), 1);
      assert.equal(await page.getByText("Waits for its turn").count(), 0);
      await page.reload();
      await page.locator(".message.assistant", { hasText: "This conversation:" }).waitFor();
      await card.getByRole("button", { name: "08:32" }).click();
      await page.locator(".message.assistant", { hasText: "Booked it." }).waitFor();
    }),
  );

  pageTest("the arrow up in an empty field brings the last message back", () =>
    onPage(async (page) => {
      await page.keyboard.press("ArrowUp");
      assert.equal(await field(page).inputValue(), "");
      await field(page).fill("/status");
      await page.keyboard.press("Enter");
      await page.locator(".message.assistant").waitFor();
      await page.keyboard.press("ArrowUp");
      assert.equal(await page.evaluate("document.activeElement?.value"), "/status");
    }),
  );
});

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openChromium, pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../support/worlds/needs.js";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

describe("going from place to place on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend();
    const folder = join(backend.home, "workspace", "memory");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "MEMORY.md"), "# Facts\n\n- Ann lives in Kassel.\n");
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  const at = (hash: string): string => `${backend.url}${hash}`;

  for (const [device, context] of Object.entries({ "a desk": {}, "a phone": phone }))
    pageTest(`a question stays in its chat, and its buttons have room for their words, at ${device}`, () =>
      withPage(
        browser,
        backend.url,
        async (page) => {
          await page.getByLabel("Message", { exact: true }).fill("ask me");
          await page.keyboard.press("Enter");
          const card = page.locator(".question-card");
          await card.getByRole("button", { name: "08:32" }).waitFor();
          await assertRoomy(page, ".question-card");
          await page.evaluate("location.hash = '#/inbox'");
          await page.locator(".inbox-card button", { hasText: "08:32" }).first().waitFor();
          await assertRoomy(page, ".inbox-card");
          assert.equal(await card.isVisible(), false, "the card is not over the other page");
          await page.goBack();
          await card.waitFor({ state: "visible" });
        },
        { context },
      ),
    );

  pageTest("nothing around a page that is opened by its address has a frame", () =>
    withPage(browser, backend.url, async (page) => {
      await page.waitForURL(/#webui/);
      await page.getByLabel("Message", { exact: true }).press("Tab");
      await page.getByLabel("Message", { exact: true }).focus();
      await page.evaluate("location.hash = '#/memory'");
      await page.getByText("Ann lives in Kassel.").waitFor();
      const style = "getComputedStyle(document.activeElement).outlineStyle";
      assert.equal(await page.evaluate("document.activeElement?.className"), "pane-root");
      assert.equal(await page.evaluate(style), "none");
    }),
  );

  pageTest("a dialog goes with the page that it belongs to", () =>
    withPage(browser, backend.url, async (page) => {
      await page.waitForURL(/#webui/);
      await page.evaluate("location.hash = '#/memory'");
      const fact = page.locator(".card", { hasText: "Ann lives in Kassel." });
      await fact.getByRole("button", { name: "Forget" }).click();
      await page.getByRole("dialog").waitFor();
      await page.goBack();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByLabel("Message", { exact: true }).waitFor();
    }),
  );

  pageTest("on a phone the way back closes the menu and then the pane, and Settings leads to their list", () =>
    withPage(
      browser,
      backend.url,
      async (page) => {
        await page.waitForURL(/#webui/);
        const chat = page.url();
        const menu = page.getByRole("button", { name: /^Menu/ });
        const side = page.locator("#side");
        const isOpen = page.locator(".shell.drawer-open");
        await menu.tap();
        await isOpen.waitFor();
        await page.goBack();
        await isOpen.waitFor({ state: "detached" });
        assert.equal(page.url(), chat, "the page is not left");
        await menu.tap();
        await side.getByRole("button", { name: "Settings" }).tap();
        const list = side.getByRole("navigation", { name: "Settings" });
        await list.getByRole("button", { name: "Models" }).waitFor();
        assert.equal(page.url(), chat, "nothing was chosen yet");
        await page.keyboard.press("Escape");
        await isOpen.waitFor({ state: "detached" });
        await menu.tap();
        await side.getByRole("button", { name: "New chat" }).waitFor();
        await side.getByRole("button", { name: "Settings" }).tap();
        await list.getByRole("button", { name: "Channels" }).tap();
        await page.locator(".pane-page").waitFor();
        assert.equal(await isOpen.count(), 0);
        await page.goBack();
        await page.getByLabel("Message", { exact: true }).waitFor();
        assert.deepEqual([page.url(), await isOpen.count()], [chat, 0], "one step back, and the menu is closed");
      },
      { context: phone },
    ),
  );

  pageTest("text that is not saved goes only after a question", () =>
    withPage(browser, at("#/jobs"), async (page) => {
      await page.getByRole("button", { name: "New job" }).waitFor();
      await page.evaluate("location.hash = '#/agents'");
      await page.getByRole("button", { name: "Edit USER.md" }).click();
      const text = page.getByLabel("Text of USER.md");
      await text.fill("I am Ann.");
      const address = page.url();
      const stay = page.getByRole("dialog").getByRole("button", { name: "Cancel" });
      await page.goBack();
      await stay.click();
      assert.equal(page.url(), address);
      await page.getByRole("button", { name: "Inbox" }).click();
      await stay.click();
      assert.deepEqual([page.url(), await text.inputValue()], [address, "I am Ann."]);
      await page.getByRole("button", { name: "Inbox" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
      await page.getByText("Nothing waits for you").or(page.locator(".inbox-card")).first().waitFor();
      // Nothing is held any more.
      await page.getByRole("button", { name: "New chat" }).click();
      await page.getByLabel("Message", { exact: true }).waitFor();
      assert.equal(await page.getByRole("dialog").count(), 0);
    }),
  );

  pageTest("what was typed in a form goes only after a question, in every form", () =>
    withPage(
      browser,
      at("#/jobs"),
      async (page) => {
        for (const [pane, open, field] of forms) {
          await page.evaluate(`location.hash = '#/${pane}'`);
          await page.getByRole("button", { name: open }).first().click();
          if (pane === "mcp") await page.getByText(/only where the gateway has a token/).waitFor();
          if (pane === "models") await page.getByRole("radio", { name: /anthropic/ }).click();
          await page.getByLabel(field).first().fill("typed");
          await page.getByRole("button", { name: "Inbox" }).click();
          await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
          assert.equal(await page.getByLabel(field).first().inputValue(), "typed", pane);
          await page.getByRole("button", { name: "Inbox" }).click();
          await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
          await page.getByText("Nothing waits for you").or(page.locator(".inbox-card")).first().waitFor();
        }
      },
      asked,
    ),
  );

  for (const language of ["en", "zh"])
    pageTest(
      `without the gateway a page says so in plain words, and is read again once it is back, ${language}`,
      () => {
        let isAway = false;
        let cut = async (): Promise<void> => {};
        return withPage(
          browser,
          backend.url,
          async (page) => {
            const problem = page.getByText(language === "en" ? /The gateway does not answer/ : /网关没有响应/).first();
            const button = page.locator(".pane-root button.primary").first();
            await page.locator(".session, #message").first().waitFor();
            isAway = true;
            await cut();
            await page.evaluate("location.hash = '#/jobs'");
            await problem.waitFor();
            assert.equal(await page.getByText(/Failed to fetch/).count(), 0);
            isAway = false;
            await problem.waitFor({ state: "detached" });
            await button.waitFor();
          },
          {
            context: { locale: language === "en" ? "en-GB" : "zh-CN" },
            expected: /ERR_FAILED|Failed to load resource|WebSocket connection/,
            async onPage(page) {
              await page.route("**/api/**", (route) => (isAway ? route.abort() : route.continue()));
              await page.routeWebSocket(/\/ws/, (socket) => {
                if (isAway) return void socket.close();
                socket.connectToServer();
                cut = () => socket.close();
              });
            },
          },
        );
      },
    );

  pageTest("a page whose code did not come is there with a second try, and says nothing of it after", () =>
    withPage(
      browser,
      backend.url,
      async (page) => {
        const code = /\/assets\/(jobs-pane|host)-[^/]+\.js/;
        await page.route(code, (route) => route.abort());
        await page.evaluate("location.hash = '#/jobs'");
        const again = page.getByRole("button", { name: "Try again" });
        await again.waitFor();
        await page.unroute(code);
        await again.click();
        await page.getByRole("button", { name: "New job" }).waitFor();
        assert.equal(await page.getByText(/Failed to fetch/).count(), 0);
      },
      { expected: /Failed to load resource|ERR_FAILED/ },
    ),
  );
});

/** The pane of models asks a provider that the test does not have. */
const asked = { expected: /the server responded with a status of 400/ };

/** The forms of the page: where they are, what opens them, and a field of theirs. */
const forms: readonly (readonly [pane: string, open: string | RegExp, field: string | RegExp])[] = [
  ["jobs", "New job", "What the assistant is told"],
  ["channels", "Set up", "The bot's token"],
  ["models", "Add a provider", /^API key of/],
  ["mcp", "Add a server", "Name"],
  ["skills", "New skill", "Name"],
  ["skills", "Install", "Where is it?"],
  ["tools", "Add a rule", /^Which one/],
];

/** Each button of an answer has room around its words, which are in its middle. */
async function assertRoomy(page: Page, within: string): Promise<void> {
  const tight = await page.evaluate(`[...document.querySelectorAll("${within} .choice")].flatMap((button) => {
    const words = document.createRange();
    words.selectNodeContents(button);
    const [outer, inner] = [button.getBoundingClientRect(), words.getBoundingClientRect()];
    const [above, below] = [inner.top - outer.top, outer.bottom - inner.bottom];
    const isRoomy = inner.left - outer.left >= 8 && above >= 4 && Math.abs(above - below) <= 4;
    const [first, second] = [...button.children].map((each) => each.getBoundingClientRect());
    const isApart = second === undefined || second.top >= first.bottom - 1;
    return isRoomy && isApart ? [] : [button.textContent];
  })`);
  assert.deepEqual(tight, []);
}

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const long = "webui:0000beef";

describe("the list of chats on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend({
      history: { [long]: 600, "telegram:42": 1 },
      answer: ({ userText }) => ({ text: `You said: ${userText.split("\n\n").at(-1)}` }),
    });
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  const onPage = (scenario: (page: Page) => Promise<void>): Promise<void> =>
    withPage(browser, backend.url, scenario, { limitMs: 15_000 });

  pageTest("finds a message in any chat and opens the chat there, however long it is", () =>
    onPage(async (page) => {
      await page.getByLabel("Search all chats").fill('"question 17"');
      const hit = page.locator(".hits .session", { hasText: "Question 17" }).last();
      await hit.locator("mark").first().waitFor();
      await hit.locator("button").click();
      assert.equal(new URL(page.url()).hash, `#${long}`);
      const found = page.locator(".message.found");
      await found.waitFor();
      assert.match((await found.textContent()) ?? "", /Question 17/);
      const box = await found.boundingBox();
      assert.ok(box !== null && box.y > 0 && box.y + box.height < 800, "it is in sight");
      await page.getByLabel("Search all chats").fill("question");
      await page.getByText("The newest 50 messages are shown. Add a word to find fewer.").waitFor();
      assert.equal(await page.locator(".hits .session").count(), 50);
      await page.getByLabel("Search all chats").fill("no such words anywhere");
      await page.getByText("Nothing found.").waitFor();
      await page.getByLabel("Search all chats").fill("");
      await row(page, "telegram").waitFor();
    }),
  );

  pageTest("looks for what was typed before the gateway was there", () =>
    onPage(async (page) => {
      let release = (): void => undefined;
      const there = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route("**/api/status", async (route) => {
        await there;
        await route.continue();
      });
      await page.reload();
      await page.getByLabel("Search all chats").fill('"question 17"');
      await page.getByText("Searching …").waitFor();
      release();
      await page.locator(".hits .session", { hasText: "Question 17" }).first().waitFor();
      assert.equal(await page.getByText("Searching …").count(), 0);
    }),
  );

  pageTest("looks again while older chats are still being read", () =>
    onPage(async (page) => {
      let searches = 0;
      await page.routeWebSocket(/\/ws$/, (socket) => {
        const server = socket.connectToServer();
        server.onMessage((text) => {
          const isSearch = /"hits":\[/.test(String(text));
          searches += isSearch ? 1 : 0;
          socket.send(isSearch && searches === 1 ? asIfStillReading(String(text)) : text);
        });
      });
      await page.reload();
      await page.getByLabel("Search all chats").fill('"question 17"');
      await page.getByText("Older chats are still being read.").waitFor();
      await page.locator(".hits .session", { hasText: "Question 17" }).first().waitFor();
      assert.equal(searches, 2);
    }),
  );

  pageTest("speaks the language that the reader chooses, also after a reload", () =>
    onPage(async (page) => {
      await page.getByRole("button", { name: "中文" }).click();
      await page.getByRole("button", { name: "新对话" }).waitFor();
      assert.equal(await page.evaluate<string>("document.documentElement.lang"), "zh");
      await page.reload();
      await page.getByPlaceholder("输入消息").waitFor();
      await page.getByRole("button", { name: "English" }).click();
      await page.getByRole("button", { name: "New chat" }).waitFor();
    }),
  );

  pageTest("pins and archives a chat, in every tab, and saves it as a file", () =>
    onPage(async (page) => {
      const other = await page.context().newPage();
      await other.goto(backend.url);
      await choose(page, "telegram", "Pin");
      for (const each of [page, other])
        await each.getByRole("list", { name: "Pinned" }).locator(".session", { hasText: "telegram" }).waitFor();
      const [saved] = await Promise.all([page.waitForEvent("download"), choose(page, "telegram", "Save as Markdown")]);
      assert.equal(saved.suggestedFilename(), "telegram-42.md");
      await choose(page, "telegram", "Archive");
      for (const each of [page, other]) await row(each, "telegram").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Archived chats" }).click();
      await choose(page, "telegram", "Take out of the archive");
      await page.getByText("Nothing is archived.").waitFor();
      await page.getByRole("button", { name: "Back to the chats" }).click();
      await row(page, "telegram").waitFor();
      await other.close();
    }),
  );

  pageTest("counts what is new in a chat until somebody looks at it; the menu works by keyboard", () =>
    onPage(async (page) => {
      await page.request.post(`${backend.url}api/message`, {
        data: { sessionKey: "webui:elsewhere", content: "hello there" },
      });
      const fresh = row(page, "hello there");
      await fresh.locator(".unread", { hasText: "1" }).waitFor();
      await fresh.locator(".session-open").click();
      await page.locator(".message.assistant", { hasText: "You said: hello there" }).waitFor();
      await page.getByRole("button", { name: "New chat" }).click();
      await fresh.locator(".unread").waitFor({ state: "hidden" });
      await page.reload();
      await fresh.waitFor();
      assert.equal(await fresh.locator(".unread").isVisible(), false, "it stays read");

      const more = fresh.getByRole("button", { name: /^Actions/ });
      await more.focus();
      await page.keyboard.press("Enter");
      await page.keyboard.press("ArrowDown");
      assert.equal(await focused(page), "Rename");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      assert.equal(await focused(page), "Delete");
      await page.keyboard.press("Escape");
      await page.getByRole("menu").waitFor({ state: "detached" });
      assert.equal(await more.evaluate((element) => element === element.ownerDocument.activeElement), true);
    }),
  );
});

/** The gateway's answer, had it not read any chat yet. */
function asIfStillReading(text: string): string {
  const frame: { response: { data: object } } = JSON.parse(text);
  return JSON.stringify({
    ...frame,
    response: { ...frame.response, data: { ...frame.response.data, hits: [], is_complete: false } },
  });
}

function row(page: Page, text: string): Locator {
  return page.locator(".session-groups .session", { hasText: text });
}

async function choose(page: Page, chat: string, name: string): Promise<void> {
  await row(page, chat).hover();
  await row(page, chat)
    .getByRole("button", { name: /^Actions/ })
    .click();
  await page.getByRole("menuitem", { name, exact: true }).click();
}

function focused(page: Page): Promise<string | null> {
  return page.evaluate<string | null>("document.activeElement.textContent");
}

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { until } from "../../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { assertAccessible } from "../../../support/worlds/http/axe.js";
import { openWholeChromium, type PageOptions, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const token = "1:inbox";

/** What the page would show outside of it, kept where the test can read and click it. */
const notifications = `
  window.shown = [];
  window.Notification = class extends EventTarget {
    static permission = "default";
    static asked = 0;
    static async requestPermission() {
      Notification.asked += 1;
      return (Notification.permission = "granted");
    }
    constructor(title, options) {
      super();
      window.shown.push(Object.assign(this, { title, ...options }));
    }
    close() {}
  };
  window.sounds = 0;
  const Real = window.AudioContext;
  window.AudioContext = class extends Real {
    constructor() {
      super();
      window.sounds += 1;
    }
  };
  window.isAway = false;
  Object.defineProperty(Document.prototype, "hidden", { get: () => window.isAway });
`;

describe("the inbox on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let telegram: FakeTelegram;
  let backend: Backend;

  before(async () => {
    browser = await openWholeChromium();
    telegram = await startFakeTelegram({ token });
    const channels = { telegram: { enabled: true, token, apiRoot: telegram.url } };
    backend = await startBackend({ config: { channels, owners: ["telegram:42"] } });
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
    await telegram?.stop();
  });

  const onPage = (scenario: (page: Page) => Promise<void>, more: PageOptions = {}): Promise<void> =>
    withPage(browser, backend.url, scenario, more);

  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(new URL(path, backend.url), { method: "POST", headers, body: JSON.stringify(body) });
    return Object(await answer.json());
  };

  pageTest("an empty inbox says so, and a question is answered there, also by keyboard and in own words", () =>
    onPage(async (page) => {
      await openInbox(page);
      await page.getByText("Nothing waits for you.").waitFor();
      for (const answer of ["button", "words"]) {
        const message = ask(backend, "ask me");
        const card = page.locator('.inbox-card[data-kind="question"]');
        await card.getByText("Which train shall I book?").waitFor();
        await badge(page, 1);
        if (answer === "button") {
          await card.getByRole("button", { name: "08:32, direct" }).focus();
          await page.keyboard.press("Enter");
        } else {
          await card.getByLabel("Or your own answer").fill("the night train");
          await page.keyboard.press("Enter");
        }
        assert.match(await message, /Booked it\./);
        await page.getByText("Nothing waits for you.").waitFor();
        await badge(page, 0);
      }
    }),
  );

  pageTest("a secret is typed unseen and saved", () =>
    onPage(async (page) => {
      await openInbox(page);
      const message = ask(backend, "need a key");
      const field = page.getByLabel("TRAIN_API_KEY");
      await field.fill("very-s3cret-inbox-key");
      assert.equal(await field.getAttribute("type"), "password");
      await page.getByRole("button", { name: "Save" }).click();
      assert.match(await message, /Thank you\./);
      await page.getByText("Nothing waits for you.").waitFor();
      const stored = JSON.parse(readFileSync(join(backend.home, "secrets.json"), "utf8"));
      assert.equal(stored.TRAIN_API_KEY, "very-s3cret-inbox-key");
    }),
  );

  pageTest("a permission shows all of what would run; what somebody else was faster with is said on the card", () =>
    onPage(
      async (page) => {
        await openInbox(page);
        const message = ask(backend, "write it down");
        const card = page.locator('.inbox-card[data-kind="approval"]');
        await card.getByText("May I write plan.md?").waitFor();
        assert.deepEqual(await card.locator("pre").allTextContents(), ["../../plan.md", "# Plan\n\nBook the train."]);
        await page.route("**/answer", (route) =>
          route.fulfill({ status: 409, json: { error: "This question is closed: answered.", code: "closed" } }),
        );
        await card.getByRole("button", { name: "Deny" }).click();
        await card.getByText("This question is closed: answered.").waitFor();
        await page.unroute("**/answer");
        await card.getByRole("button", { name: "Deny" }).click();
        await message;
        await page.getByText("Nothing waits for you.").waitFor();
      },
      { expected: /409/ },
    ),
  );

  for (const colorScheme of ["light", "dark"] as const)
    pageTest(`what waits can be read and used by everybody, ${colorScheme}, on a phone`, () =>
      onPage(
        async (page) => {
          await page.getByRole("button", { name: "Menu" }).click();
          await openInbox(page);
          await page.getByText("Nothing waits for you.").waitFor();
          await assertAccessible(page);
          const messages = ["ask me", "need a key", "write it down"].map((text) => ask(backend, text));
          await page.getByRole("button", { name: "Menu, 3 things wait for you" }).waitFor();
          await assertAccessible(page);
          for (const button of await page.locator(".inbox-card button").all()) {
            const { height = 0 } = (await button.boundingBox()) ?? {};
            assert.ok(height >= 44, `${await button.textContent()} is ${height} px high`);
          }
          await page.getByRole("button", { name: "Deny" }).click();
          await page.getByRole("button", { name: "07:05" }).click();
          await page.getByLabel("TRAIN_API_KEY").fill("secret");
          await page.getByRole("button", { name: "Save" }).click();
          await Promise.all(messages);
          await page.getByText("Nothing waits for you.").waitFor();
        },
        { context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme } },
      ),
    );

  pageTest("the title and the rail count what waits, also while a chat is open; strangers are let in or refused", () =>
    onPage(async (page) => {
      await page.getByLabel("Message", { exact: true }).waitFor();
      for (const person of [77, 78]) telegram.pushText({ chatId: person, userId: person, text: "let me in" });
      await badge(page, 2);
      assert.match(await page.title(), /^\(2\) /);
      await page.locator(".stranger").first().waitFor();
      await openInbox(page);
      assert.match(await page.title(), /^\(2\) Inbox · maxclaw$/);
      const card = (sender: string) => page.locator(".inbox-card", { hasText: sender });
      await card("(77)").getByRole("button", { name: "Let in" }).click();
      await card("(77)").waitFor({ state: "detached" });
      await card("(78)").getByRole("button", { name: "Refuse" }).click();
      await page.getByText("Nothing waits for you.").waitFor();
      await badge(page, 0);
      const { paired, waiting } = (await (await fetch(new URL("api/pairings", backend.url))).json()) as Pairings;
      assert.deepEqual([paired.map(({ senderId }) => senderId), waiting], [["77"], []]);
    }),
  );

  pageTest("who refuses a stranger whom another device has just let in reads so, also once the card is gone", () =>
    onPage(
      async (page) => {
        await openInbox(page);
        telegram.pushText({ chatId: 79, userId: 79, text: "let me in" });
        const card = page.locator(".inbox-card", { hasText: "(79)" });
        await card.waitFor();
        await page.route("**/api/pairings/refuse", async (route) => {
          await post("api/pairings/approve", Object(route.request().postDataJSON()));
          await card.waitFor({ state: "detached" });
          await route.continue();
        });
        await card.getByRole("button", { name: "Refuse" }).click();
        await page.locator(".banner", { hasText: "they were let in or refused already" }).waitFor();
        await page.getByText("Nothing waits for you.").waitFor();
      },
      { expected: /404/ },
    ),
  );

  pageTest("a dead letter is sent again, or dropped after a question", () =>
    onPage(async (page) => {
      await openInbox(page);
      const card = page.locator('.inbox-card[data-kind="dead"]');
      telegram.failNext({ method: "sendMessage", status: 403 });
      telegram.pushText({ chatId: 42, userId: 42, text: "first" });
      await card.getByText("You said: first").waitFor();
      await card.getByText(/blocked/).waitFor();
      await card.getByRole("button", { name: "Send again" }).click();
      await until("it is sent", () => telegram.sent.some(({ text }) => text === "You said: first"), 15_000);
      await page.getByText("Nothing waits for you.").waitFor();
      const sent = telegram.sent.length;
      telegram.failNext({ method: "sendMessage", status: 403 });
      telegram.pushText({ chatId: 42, userId: 42, text: "second" });
      await card.getByRole("button", { name: "Drop" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
      await card.getByRole("button", { name: "Drop" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();
      await page.getByText("Nothing waits for you.").waitFor();
      assert.equal(telegram.sent.length, sent);
    }),
  );

  pageTest("a failed job is run again, dismissed, or looked at in its chat", () =>
    onPage(async (page) => {
      await openInbox(page);
      const { id } = await post("api/cron", { title: "Plants", prompt: "fail please", every: "3600000" });
      const run = () => post(`api/cron/${id}/run`, {});
      const card = page.locator('.inbox-card[data-kind="failed_job"]');
      const seen = async (): Promise<string> => {
        await card.waitFor();
        return (await card.getAttribute("id")) ?? "";
      };
      await run();
      const first = await seen();
      await card.getByRole("button", { name: "Run again" }).click();
      await page.locator(`[id="${first}"]`).waitFor({ state: "detached" });
      await seen();
      await card.getByRole("button", { name: "Dismiss" }).click();
      await page.getByText("Nothing waits for you.").waitFor();
      await run();
      await seen();
      await card.getByRole("button", { name: "Open the chat" }).click();
      await page.waitForURL(/#webui:scheduled$/);
      await badge(page, 0);
      await fetch(new URL(`api/cron/${id}`, backend.url), { method: "DELETE" });
    }),
  );

  pageTest("what comes while nobody looks is a notification, asked for by a button alone; a click opens it", () =>
    onPage(
      async (page) => {
        await openInbox(page);
        const settings = page.locator(".pane-section");
        assert.equal(await page.evaluate("Notification.asked"), 0);
        await settings.getByRole("button", { name: "Turn on notifications" }).click();
        await settings.getByLabel("Show a notification").waitFor();
        assert.equal(await settings.getByLabel("Play a sound").isChecked(), false);

        const first = ask(backend, "ask me");
        const card = page.locator('.inbox-card[data-kind="question"]');
        await card.waitFor();
        assert.equal(await page.evaluate("shown.length"), 0, "who looks needs no notification");
        await card.getByRole("button", { name: "07:05" }).click();
        await first;
        await page.getByText("Nothing waits for you.").waitFor();

        await page.getByRole("button", { name: "Chats", exact: true }).click();
        await page.getByLabel("Message", { exact: true }).waitFor();
        await page.evaluate("isAway = true");
        const second = ask(backend, "ask me");
        await becomes(page, "shown.length", 1);
        assert.equal(await page.evaluate("shown[0].title"), "A question: ask me");
        assert.equal(await page.evaluate("shown[0].body"), "Which train shall I book?");
        assert.equal(await page.evaluate("sounds"), 0, "the sound is off by default");
        await page.evaluate("isAway = false; shown[0].dispatchEvent(new Event('click'))");
        await page.locator('.inbox-card[data-kind="question"]:focus').waitFor();
        await card.getByRole("button", { name: "07:05" }).click();
        await second;
      },
      { onPage: (page) => page.addInitScript(notifications) },
    ),
  );

  pageTest("the sound is silent at night, unless the reader wants it then", () =>
    onPage(
      async (page) => {
        await page.clock.setFixedTime(new Date(2026, 10, 23, 12, 0));
        await openInbox(page);
        await page.getByLabel("Play a sound").click();
        await becomes(page, "sounds", 1);
        const away = async (): Promise<void> => {
          const before = Number(await page.evaluate("shown.length"));
          await page.evaluate("isAway = true");
          const message = ask(backend, "ask me");
          await page.locator('.inbox-card[data-kind="question"]').waitFor();
          await becomes(page, "shown.length", before + 1);
          await page.evaluate("isAway = false");
          await page.getByRole("button", { name: "07:05" }).click();
          await message;
          await page.getByText("Nothing waits for you.").waitFor();
        };
        await page.evaluate("Notification.permission = 'granted'");
        await away();
        assert.equal(await page.evaluate("sounds"), 2, "at noon");
        await page.clock.setFixedTime(new Date(2026, 10, 23, 22, 30));
        await away();
        assert.equal(await page.evaluate("sounds"), 2, "at half past ten");
        await page.getByLabel("No sound from 22:00 to 8:00").click();
        await away();
        assert.equal(await page.evaluate("sounds"), 3, "where the reader wants it");
      },
      { onPage: (page) => page.addInitScript(notifications) },
    ),
  );

  pageTest("a permission that is told of on the Chinese page is told in Chinese", () =>
    onPage(
      async (page) => {
        await page.goto(`${backend.url}#/inbox`);
        await page.getByText("没有等您处理的事。").waitFor();
        await page.evaluate("Notification.permission = 'granted'; isAway = true");
        const message = ask(backend, "write it down");
        await becomes(page, "shown.length", 1);
        assert.equal(await page.evaluate("shown[0].body"), "是否允许写入 plan.md？那在这个对话自己的文件夹之外。");
        await page.getByRole("button", { name: "拒绝" }).click();
        await message;
      },
      { context: { locale: "zh-CN" }, onPage: (page) => page.addInitScript(notifications) },
    ),
  );
});

interface Pairings {
  readonly paired: readonly { readonly senderId: string }[];
  readonly waiting: readonly object[];
}

async function openInbox(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Inbox/ }).click();
  await page.getByText("Everything that waits for you").waitFor();
}

async function badge(page: Page, count: number): Promise<void> {
  const item = page.locator(".rail-item", { hasText: "Inbox" }).locator(".badge");
  if (count === 0) await item.waitFor({ state: "hidden" });
  else await item.filter({ hasText: new RegExp(`^${count}$`) }).waitFor();
}

/** `waitForFunction` would evaluate text within the page, which its content policy forbids. */
async function becomes(page: Page, expression: string, value: number): Promise<void> {
  await until(`${expression} is ${value}`, async () => (await page.evaluate(expression)) === value, 15_000);
}

/** Writes into a chat of its own, and resolves with the answer once the turn is over. */
async function ask({ url }: Backend, content: string): Promise<string> {
  const body = JSON.stringify({ sessionKey: `webui:${crypto.randomUUID().slice(0, 8)}`, content });
  const headers = { "content-type": "application/json" };
  return await (await fetch(new URL("api/message", url), { method: "POST", headers, body })).text();
}

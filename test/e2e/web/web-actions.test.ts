import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { assertAccessible } from "../../support/worlds/http/axe.js";
import { openChromium, pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../support/worlds/needs.js";

/** One red dot. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8Dwn4EIwDiqkL4KAcT9GO0U4BxoAAAAAElFTkSuQmCC",
  "base64",
);
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: "dark" as const };

describe("what can be done with a message on the web page", { timeout: 180_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend({
      history: { "webui:0000beef": 3 },
      answer: ({ userText, body }) => {
        const written = userText.slice(userText.lastIndexOf("\n\n") + 2);
        if (written === "draw") {
          const isDrawn = JSON.stringify(body.messages).includes("call_pic");
          if (!isDrawn) return { toolCalls: [{ id: "call_pic", name: "send_file", input: { path: "dot.png" } }] };
          return { text: "Here: ![a red dot](dot.png) and ![](https://tracker.example/x.png) and ![gone](none.png)" };
        }
        return { text: `You **said**: ${written}` };
      },
    });
    writeFileSync(join(backend.home, "workspace", "dot.png"), png);
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  const onPage = (
    scenario: (page: Page) => Promise<void>,
    context: BrowserContextOptions = {},
    path = "",
  ): Promise<void> => withPage(browser, backend.url + path, scenario, { context });

  pageTest("a message has its time and is copied as it was written; its tools take no room when they come", () =>
    onPage(async (page) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await say(page, "apples");
      const [mine, answer] = [message(page, "user", "apples"), message(page, "assistant", "apples")];
      assert.match((await mine.locator("time").getAttribute("title")) ?? "", /\d{4}/);
      const before = await answer.boundingBox();
      await mine.hover();
      await mine.locator(".bar-tools").waitFor();
      assert.deepEqual(await answer.boundingBox(), before, "nothing moves");
      await answer.getByRole("button", { name: "Copy", exact: true }).click();
      await answer.getByText("Copied").waitFor();
      assert.equal(await page.evaluate("navigator.clipboard.readText()"), "You **said**: apples");
      assert.deepEqual(await answer.boundingBox(), before);
    }),
  );

  pageTest("an edited message takes the place of what followed it, which is one press away", () =>
    onPage(async (page) => {
      for (const text of ["apples", "pears", "plums"]) await say(page, text);
      await message(page, "user", "pears").getByRole("button", { name: "Edit" }).click();
      const field = page.getByLabel("Edit your message");
      assert.equal(await field.inputValue(), "pears");
      await assertAccessible(page);
      await field.press("Escape");
      await field.waitFor({ state: "detached" });
      assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), "Edit");
      await page.keyboard.press("Enter");
      await field.fill("peaches");
      await field.press("Enter");
      await message(page, "assistant", "peaches").waitFor();
      const texts = ["apples", "You said: apples", "peaches", "You said: peaches"];
      assert.deepEqual(await textsOf(page), texts);
      await page.reload();
      await message(page, "assistant", "peaches").waitFor();
      assert.deepEqual(await textsOf(page), texts);
      await page.getByRole("button", { name: "Show what was here before" }).click();
      await message(page, "assistant", "plums").waitFor();
      assert.deepEqual((await textsOf(page)).slice(-2), ["plums", "You said: plums"]);
      assert.match(new URL(page.url()).hash, /^#webui:fork-/);
    }),
  );

  pageTest("a branch at a question that took another one's place has nothing of that one", () =>
    onPage(async (page) => {
      for (const text of ["apples", "pears", "plums"]) await say(page, text);
      for (const [from, to] of [
        ["pears", "peaches"],
        ["peaches", "cherries"],
      ] as const) {
        await message(page, "user", from).getByRole("button", { name: "Edit" }).click();
        await page.getByLabel("Edit your message").fill(to);
        await page.keyboard.press("Enter");
        await message(page, "assistant", to).waitFor();
        await page.locator(".working").waitFor({ state: "hidden" });
      }
      await choose(page, message(page, "assistant", "cherries"), "Answer again");
      await page.locator(".working").waitFor({ state: "hidden" });
      await message(page, "assistant", "cherries").waitFor();
      const home = new URL(page.url()).hash;
      for (const isReloaded of [false, true]) {
        if (isReloaded) await page.goto(`${page.url().split("#")[0]}${home}`);
        await message(page, "assistant", "cherries").waitFor();
        await choose(page, message(page, "user", "cherries"), "Branch from here");
        await page.waitForURL((url) => url.hash !== home);
        while ((await page.locator("#message").inputValue()) !== "cherries") {}
        await message(page, "assistant", "apples").waitFor();
        assert.deepEqual(await textsOf(page), ["apples", "You said: apples"]);
        assert.equal(await page.getByRole("button", { name: "Show what was here before" }).count(), 0);
      }
    }),
  );

  pageTest("the files of an edited message go along", () =>
    onPage(async (page) => {
      const [chooser] = await Promise.all([
        page.waitForEvent("filechooser"),
        page.getByRole("button", { name: "Attach files" }).click(),
      ]);
      await chooser.setFiles([{ name: "dot.png", mimeType: "image/png", buffer: png }]);
      await page.locator('button[aria-label="Send"]:not([disabled])').waitFor();
      await say(page, "look");
      await message(page, "user", "look").getByRole("button", { name: "Edit" }).click();
      await page.getByLabel("Edit your message").fill("look again");
      await page.getByRole("button", { name: "Send", exact: true }).first().click();
      await message(page, "user", "look again").getByRole("img", { name: "dot.png" }).waitFor();
      await page.locator(".working").waitFor({ state: "hidden" });
      assert.equal(await page.locator(".message.user").count(), 1);
      await assertAccessible(page);
    }),
  );

  pageTest("a chat branches at an answer, and at a question that is written there and not sent", () =>
    onPage(async (page) => {
      for (const text of ["apples", "pears"]) await say(page, text);
      const home = new URL(page.url()).hash;
      await choose(page, message(page, "assistant", "apples"), "Branch from here");
      await page.waitForURL((url) => url.hash !== home);
      await message(page, "assistant", "apples").waitFor();
      assert.deepEqual(await textsOf(page), ["apples", "You said: apples"]);
      await say(page, "figs");
      await page.goBack();
      await message(page, "assistant", "pears").waitFor();
      assert.equal((await textsOf(page)).length, 4, "the chat itself is as it was");
      await choose(page, message(page, "user", "pears"), "Branch from here");
      while ((await page.locator("#message").inputValue()) !== "pears") {}
      await page.locator(".message.user", { hasText: "apples" }).waitFor();
      assert.deepEqual(await textsOf(page), ["apples", "You said: apples"]);
    }),
  );

  pageTest("an answer is given again, and says who wrote it and what it took", () =>
    onPage(async (page) => {
      await say(page, "apples");
      const key = await message(page, "assistant", "apples").getAttribute("data-key");
      await choose(page, message(page, "assistant", "apples"), "Answer again");
      await page.locator(`[data-key="${key}"]`).waitFor({ state: "detached" });
      await message(page, "assistant", "apples").waitFor();
      assert.deepEqual(await textsOf(page), ["apples", "You said: apples"]);
      await choose(page, message(page, "assistant", "apples"), "Details");
      const card = page.getByRole("dialog", { name: "Details" });
      const [placed, answer] = [await card.boundingBox(), await message(page, "assistant", "apples").boundingBox()];
      assert.ok(
        placed !== null && answer !== null && placed.x >= answer.x,
        "it covers nothing beside the conversation",
      );
      const text = (await card.textContent()) ?? "";
      for (const word of ["Model", "Tokens read", "Tokens written", "Cost", "Duration"])
        assert.match(text, new RegExp(word));
      await assertAccessible(page);
      await page.keyboard.press("Escape");
      await card.waitFor({ state: "detached" });
      assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), "More");
    }),
  );

  pageTest("with the keyboard: one stop for each message, arrows inside", () =>
    onPage(async (page) => {
      await say(page, "apples");
      const mine = message(page, "user", "apples");
      const buttons = mine.locator(".bar-button:not([hidden])");
      assert.deepEqual(await buttons.evaluateAll((all) => all.map((button) => button.getAttribute("tabindex"))), [
        "0",
        "-1",
        "-1",
      ]);
      await buttons.first().focus();
      await page.keyboard.press("ArrowRight");
      assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), "Edit");
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name: "Branch from here" }).waitFor();
      await page.keyboard.press("Escape");
      assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), "More");
    }),
  );

  pageTest("on a phone all of it is there without a pointer, large enough for a finger", () =>
    onPage(
      async (page) => {
        await page.getByText("Question 3", { exact: true }).waitFor();
        assert.deepEqual(await page.locator(".day-line").allTextContents(), ["Today"]);
        for (const button of await page.locator(".bar-button:visible").all()) {
          const { width = 0, height = 0 } = (await button.boundingBox()) ?? {};
          assert.ok(width >= 44 && height >= 44, `${width} × ${height}`);
        }
        assert.equal(await page.evaluate("getComputedStyle(document.querySelector('.bar-tools')).opacity"), "1");
        await message(page, "user", "Question 2").getByRole("button", { name: "Edit" }).tap();
        await page.getByLabel("Edit your message").fill("Question two");
        await page.locator(".edit-box").getByRole("button", { name: "Send" }).tap();
        await message(page, "assistant", "Question two").waitFor();
        assert.equal((await textsOf(page)).length, 4);
        await assertAccessible(page);
      },
      phone,
      "#webui:0000beef",
    ),
  );

  pageTest("a picture of the chat's own is shown where an answer names it; nothing else is fetched", () =>
    onPage(async (page) => {
      const hosts = new Set<string>();
      page.on("request", (request) => hosts.add(new URL(request.url()).hostname));
      await write(page, "draw");
      const answer = page.locator(".message.assistant .markdown", { hasText: "Here:" });
      const picture = answer.getByRole("img", { name: "a red dot" });
      // Its room is there before it.
      await picture.and(page.locator("[src]")).waitFor();
      const width =
        "document.querySelector('.own-picture img').decode().then(() => document.querySelector('.own-picture img').naturalWidth)";
      assert.equal(await page.evaluate(width), 1);
      assert.equal(await answer.locator("img").count(), 1);
      await answer.getByRole("link", { name: "Show picture from tracker.example" }).waitFor();
      await answer.getByText("gone").waitFor();
      hosts.delete("");
      assert.deepEqual(
        [...hosts].filter((host) => host !== "127.0.0.1"),
        [],
      );
    }),
  );

  pageTest("new messages are counted for who reads further up", () =>
    onPage(async (page) => {
      for (let count = 0; count < 8; count += 1) await say(page, `a longer story ${"of apples ".repeat(60)}${count}`);
      await page.evaluate("document.querySelector('.scroller').scrollTo(0, 0)");
      await page.getByRole("button", { name: "Go to the newest message" }).waitFor();
      const box = await page.locator(".jump").boundingBox();
      assert.ok(box !== null && box.width < 80, `it covers nothing of the text: ${box?.width} px`);
      const key = new URL(page.url()).hash.slice(1);
      await page.request.post(`${backend.url}api/message`, { data: { sessionKey: key, content: "from elsewhere" } });
      await page.getByRole("button", { name: "Go to the newest message, 2 new messages" }).click();
      await message(page, "assistant", "from elsewhere").waitFor();
      await page.locator(".jump.shown").waitFor({ state: "hidden" });
    }),
  );
});

const message = (page: Page, who: "user" | "assistant", text: string): Locator =>
  page.locator(`.message.${who}:not(.pending)`, { hasText: text });

async function choose(page: Page, of: Locator, name: string): Promise<void> {
  await of.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name }).click();
}

async function write(page: Page, text: string): Promise<void> {
  const field = page.getByLabel("Message", { exact: true });
  await field.fill(text);
  await field.press("Enter");
}

/** Until it is answered. */
async function say(page: Page, text: string): Promise<void> {
  const answers = await page.locator(".message.assistant .markdown:not(:empty)").count();
  await write(page, text);
  await page.locator(".message.assistant .markdown:not(:empty)").nth(answers).waitFor();
  await page.locator(".working").waitFor({ state: "hidden" });
}

async function textsOf(page: Page): Promise<readonly string[]> {
  const texts = await page.locator(".message .bubble, .message.assistant .markdown").allTextContents();
  return texts.map((text) => text.trim());
}

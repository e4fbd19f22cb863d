import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { backendOfBlock, browserOfBlock } from "../../support/worlds/http/page-block.js";
import { withoutChromium } from "../../support/worlds/needs.js";

describe("questions and interrupts on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();
  const backend = backendOfBlock();

  const onPage = (scenario: (page: Page) => Promise<void>, context?: BrowserContextOptions): Promise<void> =>
    withPage(browser(), backend().url, scenario, { context });

  pageTest("a question is a card above the composer; it survives a reload, and a click answers it", () =>
    onPage(async (page) => {
      await write(page, "ask me", "Enter");
      const card = page.locator(".question-card");
      await card.getByText("Which train shall I book?").waitFor();
      await page.getByText("Waiting for your answer").waitFor();
      await page.getByText("Enter answers or adds").waitFor();
      await page.reload();
      await card.getByText("direct").waitFor();
      assert.match((await card.textContent()) ?? "", /Waits until \d/);
      await shoot(page, "question");
      await card.getByRole("button", { name: "08:32" }).click();
      await answered(page, "Booked it.");
      assert.equal(await card.count(), 0);
      await page.getByText("Answered: 08:32, direct").waitFor();
      assert.equal(await page.evaluate("document.activeElement?.id"), "message");
    }),
  );

  pageTest("one's own words answer too, in the card or where one writes", () =>
    onPage(async (page) => {
      await write(page, "ask me", "Enter");
      await page.getByLabel("Or your own answer").fill("none at all");
      await page.keyboard.press("Enter");
      await answered(page, "Booked it.");
      await page.getByText("Answered: none at all").waitFor();
      await page.getByRole("button", { name: "New chat" }).click();
      await write(page, "ask me", "Enter");
      await page.locator(".question-card").waitFor();
      await write(page, "1", "Enter");
      await answered(page, "Booked it.");
      await page.getByText("Answered: 07:05, one change in Bern").waitFor();
    }),
  );

  pageTest("a permission shows all of what would run, and only a yes lets it", () =>
    onPage(async (page) => {
      const file = join(backend().home, "workspace", "plan.md");
      await write(page, "write it down", "Enter");
      const card = page.locator(".question-card");
      await card.getByText("May I write plan.md?").waitFor();
      assert.deepEqual(await card.locator("pre").allTextContents(), ["../../plan.md", "# Plan\n\nBook the train."]);
      await shoot(page, "permission");
      await card.getByRole("button", { name: "Deny" }).click();
      await answered(page, "Written.");
      assert.ok(!existsSync(file));
      await write(page, "write it down", "Enter");
      await card.getByRole("button", { name: "Allow once" }).click();
      await page.getByText("Answered: Allow once").waitFor();
      await page.locator('details.tool[data-status="done"]').waitFor();
      assert.equal(readFileSync(file, "utf8"), "# Plan\n\nBook the train.");
    }),
  );

  pageTest("a permission is asked in Chinese on the Chinese page, wherever it is shown, and answered there", () =>
    onPage(
      async (page) => {
        const inChinese = async (card: Locator): Promise<void> => {
          await card.getByText("是否允许写入 plan.md？那在这个对话自己的文件夹之外。", { exact: true }).waitFor();
          const choices = await card.locator(".choice").allInnerTexts();
          assert.deepEqual(
            choices.flatMap((text) => text.split("\n")),
            ["允许一次", "始终允许", "写入 plan.md；必须完全相同，并在这个对话中", "拒绝"],
          );
          assert.deepEqual(await card.locator("pre").allTextContents(), ["../../plan.md", "# Plan\n\nBook the train."]);
        };
        const done = page.locator('details.tool[data-status="done"]');
        await write(page, "write it down", "Enter");
        const card = page.locator(".question-card");
        await inChinese(card);
        await page.locator(".notice", { hasText: "是否允许写入 plan.md？" }).waitFor();
        await shoot(page, "permission-chinese");
        await card.getByRole("button", { name: "允许一次" }).click();
        await done.waitFor();
        await page.locator(".notice", { hasText: "已回答：允许一次" }).waitFor();
        assert.equal(await page.getByText(/May I|Allow/).count(), 0);
        await write(page, "write it down", "Enter");
        await card.waitFor();
        const chat = page.url();
        await page.goto(`${backend().url}#/inbox`);
        const waiting = page.locator('.inbox-card[data-kind="approval"]');
        await inChinese(waiting);
        await shoot(page, "permission-chinese-inbox");
        await waiting.getByRole("button", { name: "允许一次" }).click();
        await page.getByText("没有等您处理的事。").waitFor();
        await page.goto(chat);
        await done.nth(1).waitFor();
        await page.getByRole("button", { name: "这里发生了什么" }).click();
        await page.getByRole("link", { name: "write it down" }).first().click();
        const step = page.locator(".timeline-step", { hasText: "是否允许写入 plan.md？" });
        await step.locator("summary").first().click();
        await step.getByText("允许一次", { exact: true }).waitFor();
        assert.equal(await page.getByText(/May I|Allow/).count(), 0);
      },
      { locale: "zh-CN", viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true },
    ),
  );

  pageTest("a secret is typed unseen, saved, and is nowhere on the page", () =>
    onPage(async (page) => {
      await write(page, "need a key", "Enter");
      const field = page.getByLabel("TRAIN_API_KEY");
      await field.fill("very-s3cret-train-key");
      assert.equal(await field.getAttribute("type"), "password");
      await shoot(page, "secret");
      await page.getByRole("button", { name: "Save" }).click();
      await answered(page, "Thank you.");
      await page.getByText("Answered: TRAIN_API_KEY saved").waitFor();
      assert.ok(!(await page.content()).includes("very-s3cret"));
      const stored = JSON.parse(readFileSync(join(backend().home, "secrets.json"), "utf8"));
      assert.equal(stored.TRAIN_API_KEY, "very-s3cret-train-key");
    }),
  );

  pageTest("a question that somebody else has answered goes away, on a phone as well", () =>
    onPage(
      async (page) => {
        await write(page, "ask me", "Enter");
        const card = page.locator(".question-card");
        await card.waitFor();
        await shoot(page, "question-phone");
        const other = await page.context().newPage();
        await other.goto(page.url());
        await other.locator(".question-card").getByRole("button", { name: "07:05" }).click();
        await card.waitFor({ state: "detached" });
        await answered(page, "Booked it.");
        await page.locator(".question").waitFor({ state: "hidden" });
      },
      { viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true },
    ),
  );

  pageTest("while an answer is written, a button stops it and answers this instead; Alt + Enter is a new line", () =>
    onPage(async (page) => {
      await page.getByText("Enter sends, Shift + Enter starts a new line").waitFor();
      await write(page, "first line", "Shift+Enter");
      assert.equal(await composer(page).inputValue(), "first line\n");
      await write(page, "write a long story", "Enter");
      await streaming(page, "word3");
      await page.getByText("Enter sends it after this answer").waitFor();
      await composer(page).fill("what else");
      await composer(page).press("Alt+Enter");
      await page.keyboard.type("is there?");
      assert.equal(await composer(page).inputValue(), "what else\nis there?");
      await shoot(page, "working");
      await page.getByRole("button", { name: "Stop and answer this instead" }).click();
      await answered(page, "You said: what else");
      await page.getByText("Cut off here").waitFor();
      await page.getByText("Enter sends, Shift + Enter").waitFor();
    }),
  );

  pageTest("while an answer is written, Enter waits for its end, and Esc stops it", () =>
    onPage(async (page) => {
      await write(page, "work in steps", "Enter");
      await streaming(page, "Step one");
      await write(page, "and then this", "Enter");
      await page.locator(".message.user", { hasText: "and then this" }).getByText("Waits for its turn").waitFor();
      await answered(page, "You said: and then this");
      assert.equal(await page.getByText("Cut off here").count(), 0);
      await write(page, "write a long story", "Enter");
      await streaming(page, "word3");
      await page.keyboard.press("Escape");
      await page.getByText("Cut off here").waitFor();
      await page.locator(".working").waitFor({ state: "hidden" });
    }),
  );

  pageTest("Ctrl + Enter and the plus add to the running answer, which goes on", () =>
    onPage(async (page) => {
      await write(page, "work in steps", "Enter");
      await streaming(page, "Step one");
      await write(page, "and mind the gap", "Control+Enter");
      await composer(page).fill("and hurry");
      await page.getByRole("button", { name: "Add to this answer" }).click();
      await answered(page, "You said: and hurry");
      assert.equal(await page.getByText("Cut off here").count(), 0);
      assert.equal(await page.getByText("Stopped.").count(), 0);
    }),
  );
});

function composer(page: Page): Locator {
  return page.locator(".composer textarea");
}

async function write(page: Page, text: string, key: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press(key);
}

async function streaming(page: Page, text: string): Promise<void> {
  await page.locator(".message.assistant .markdown").filter({ hasText: text }).last().waitFor();
}

async function answered(page: Page, text: string): Promise<void> {
  await streaming(page, text);
  await page.locator(".working").waitFor({ state: "hidden" });
}

/** For people who want to look: `SHOTS=/some/folder`. */
async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env.SHOTS;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

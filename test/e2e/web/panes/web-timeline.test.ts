import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { assertAccessible } from "../../../support/worlds/http/axe.js";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { startBackend } from "../../../support/worlds/http/web-gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";
import { withoutChromium } from "../../../support/worlds/needs.js";
import { cast, spawn } from "../../../support/worlds/tools/sub-agents.js";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: "dark" as const };

async function say(page: Page, text: string, answer: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
  await page.locator(".message.assistant", { hasText: answer }).first().waitFor();
}

/** Lists so many folders, all at once, then says so. */
function listing(times: number) {
  return (request: RecordedRequest): ScriptedAnswer =>
    request.index === 0
      ? {
          text: "Let me look.",
          toolCalls: Array.from({ length: times }, (_, at) => ({
            name: "list_dir",
            input: { path: at === 0 ? "." : `folder ${at}` },
          })),
          usage: { input: 900, output: 40, cacheRead: 300 },
        }
      : { text: "All seen." };
}

/** Runs in the page: a frame, and what is to come at once, take two seconds. */
const slowFrames = `
  const soon = window.setTimeout.bind(window);
  window.requestAnimationFrame = (draw) => soon(() => draw(performance.now()), 2000);
  window.setTimeout = (act, ms = 0, ...more) => soon(act, ms <= 100 ? 2000 : ms, ...more);`;

describe("the timeline on the web page", { timeout: 180_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  for (const [name, context] of [
    ["a desktop", {}],
    ["a phone", phone],
  ] as const)
    pageTest(`shows what a turn waited for, asked and did, and opens each step, on ${name}`, async () => {
      const requests: string[] = [];
      const answer = listing(1);
      const backend = await startBackend({
        answer: (request) => {
          requests.push(request.bodyText);
          return answer(request);
        },
        config: { prices: { "test-model": { input: 10, output: 10, cacheRead: 1 } } },
      });
      try {
        await withPage(
          browser,
          backend.url,
          async (page) => {
            await say(page, "Look around", "All seen.");
            await page.getByRole("button", { name: "What happened here" }).click();
            await page.getByRole("link", { name: "Look around" }).click();
            assert.match(page.url(), /#\/timeline\/webui%3A[0-9a-f]{8}%2Fturn_/);
            const steps = page.locator(".timeline-step");
            await steps.nth(3).waitFor();
            assert.deepEqual(await page.locator(".timeline-name strong").allInnerTexts(), [
              "Message waits",
              "Model",
              "Tool",
              "Model",
            ]);
            await assertAccessible(page);
            // By keyboard alone.
            await steps.nth(1).locator("summary").first().focus();
            await page.keyboard.press("Enter");
            const facts = steps.nth(1).locator(".timeline-facts");
            assert.match(
              await facts.innerText(),
              /openai\/test-model[\s\S]*First word after[\s\S]*900[\s\S]*300[\s\S]*40/,
            );
            await steps.nth(1).getByText("What was sent", { exact: true }).click();
            await steps.nth(1).getByRole("button", { name: "Show what was sent" }).click();
            await steps.nth(1).getByText("byte for byte").waitFor();
            assert.equal(await steps.nth(1).getByRole("textbox", { name: "What was sent" }).inputValue(), requests[0]);
            await steps.nth(2).locator("summary").first().click();
            await steps.nth(2).getByText("(empty)").waitFor();
            await assertAccessible(page);
            // Nothing is wider than the window.
            assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false);
            await page.reload();
            await steps.nth(3).waitFor();
            await page.getByRole("link", { name: "All turns of this chat" }).click();
            await page.getByRole("link", { name: "Look around" }).waitFor();
            await assertAccessible(page);
          },
          { context },
        );
      } finally {
        await backend.stop();
      }
    });

  pageTest("a turn with two hundred calls is short at first, and can be filtered", async () => {
    const backend = await startBackend({ answer: listing(200) });
    try {
      await withPage(browser, backend.url, async (page) => {
        await say(page, "Look around", "All seen.");
        await page.getByRole("button", { name: "What happened here" }).click();
        await page.getByRole("link", { name: "Look around" }).click();
        const steps = page.locator(".timeline-step");
        await steps.nth(59).waitFor();
        assert.equal(await steps.count(), 60);
        await page.getByRole("button", { name: "Show 143 more steps" }).click();
        await steps.nth(202).waitFor({ state: "attached" });
        await page.locator(".one-of-option", { hasText: "Model" }).click();
        await page.waitForFunction("document.querySelectorAll('.timeline-step').length === 2");
      });
    } finally {
      await backend.stop();
    }
  });

  pageTest("asks of which chat, and says when its last message was: chats may have one name", async () => {
    const backend = await startBackend({ history: { "webui:0000aaaa": 1, "webui:0000bbbb": 1 } });
    try {
      await withPage(browser, `${backend.url}#/timeline`, async (page) => {
        const chats = page.locator(".timeline-chat");
        await chats.nth(1).waitFor();
        const times = await chats.locator("time").evaluateAll((all) => all.map((one) => one.getAttribute("datetime")));
        assert.equal(times.length, 2);
        for (const time of times) assert.ok(Date.parse(time ?? "") > 0, `${time}`);
        assert.match(await chats.first().innerText(), /\d\d:\d\d/);
      });
    } finally {
      await backend.stop();
    }
  });

  pageTest("chats that come between the first drawing of a slow browser and its effects are shown", async () => {
    const backend = await startBackend({ history: { "webui:0000aaaa": 1, "webui:0000bbbb": 1 } });
    try {
      await withPage(
        browser,
        `${backend.url}#/timeline`,
        async (page) => {
          await page.locator(".timeline-chat").nth(1).waitFor();
        },
        { onPage: (page) => page.addInitScript(slowFrames) },
      );
    } finally {
      await backend.stop();
    }
  });

  pageTest("what a sub-agent did is below its step", async () => {
    const answer = cast({
      parent: (_, done) =>
        done === 0
          ? { toolCalls: [spawn({ action: "start", task: "Find it.", label: "finder" })] }
          : { text: "A helper looks." },
      child: () => ({ text: "It is 42." }),
      told: () => ({ text: "My helper says 42." }),
    });
    // A script that nobody has to wait for.
    const backend = await startBackend({ answer: (request) => answer(request) as ScriptedAnswer });
    try {
      await withPage(browser, backend.url, async (page) => {
        await say(page, "What is it?", "My helper says 42.");
        await page.getByRole("button", { name: "What happened here" }).click();
        await page.getByRole("link", { name: "What is it?" }).click();
        const agent = page.locator(".timeline-step.agent");
        await agent.locator("summary").click();
        const nested = agent.locator(".timeline-nested .timeline-step.model");
        await nested.getByText("It is 42.").waitFor();
      });
    } finally {
      await backend.stop();
    }
  });

  pageTest("plays a turn again and says that it is the same, and goes on from it in a new chat", async () => {
    const backend = await startBackend({ answer: listing(1) });
    try {
      await withPage(browser, backend.url, async (page) => {
        await say(page, "Look around", "All seen.");
        await page.getByRole("button", { name: "What happened here" }).click();
        await page.getByRole("link", { name: "Look around" }).click();
        await page.getByRole("button", { name: "Play it again" }).click();
        await page.getByText(/The same as recorded: \d+ events\./).waitFor();
        await page.getByRole("button", { name: "Continue from here in a new chat" }).click();
        await page.waitForURL(/#webui:fork-/);
        await page.getByText("All seen.").first().waitFor();
      });
    } finally {
      await backend.stop();
    }
  });

  pageTest("a turn in which a person was asked is not offered to be played again, and says why", async () => {
    const backend = await startBackend();
    try {
      await withPage(browser, backend.url, async (page) => {
        await page.getByLabel("Message", { exact: true }).fill("ask me");
        await page.keyboard.press("Enter");
        await page.locator(".question-card").getByRole("button", { name: "08:32" }).click();
        await page.getByText("Booked it.").first().waitFor();
        await page.getByRole("button", { name: "What happened here" }).click();
        await page.getByRole("link", { name: "ask me" }).click();
        await page.getByText("In this turn a person was asked something, so it cannot be played again.").waitFor();
        assert.equal(await page.getByRole("button", { name: "Play it again" }).count(), 0);
        await page.getByRole("button", { name: "Continue from here in a new chat" }).first().waitFor();
      });
    } finally {
      await backend.stop();
    }
  });

  pageTest("the head of a chat says how much of its context is used, by what, and when it is nearly full", async () => {
    let text = "ok";
    const backend = await startBackend({
      answer: () => ({ text, usage: { input: 3000, output: 10 } }),
      config: { agents: { defaults: { model: "openai/test-model", contextWindow: 16_000 } } },
    });
    try {
      await withPage(browser, backend.url, async (page) => {
        const meter = page.locator(".context-meter");
        assert.equal(await meter.isVisible(), false, "nothing is said of an empty chat");
        await say(page, "hello", "ok");
        const open = page.locator(".context-open");
        await open.waitFor();
        assert.match((await open.getAttribute("aria-label")) ?? "", /^Context of this chat: \d+% used$/);
        await open.focus();
        await page.keyboard.press("Enter");
        assert.match(
          await meter.innerText(),
          /of 12,000 tokens[\s\S]*Instructions[\s\S]*Tools[\s\S]*This conversation[\s\S]*From 9,600 tokens on/,
        );
        await assertAccessible(page);
        await page.keyboard.press("Escape");
        await page.getByRole("heading", { name: "What the model reads" }).waitFor({ state: "hidden" });
        text = `${"Many words. ".repeat(1500)}That was long.`;
        await say(page, "tell me more", "That was long.");
        await page.getByText("Nearly full").waitFor();
      });
    } finally {
      await backend.stop();
    }
  });
});

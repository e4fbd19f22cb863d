import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { projectFile } from "../../support/project.js";
import { pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { backendOfBlock, browserOfBlock } from "../../support/worlds/http/page-block.js";
import { startBackend } from "../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../support/worlds/needs.js";

const arabic = "مرحبا بالعالم.\n\n- بند أول\n- بند ثان\n\nIn English.";
const onePixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const noKey = { status: 401, body: { error: { message: "Incorrect API key", type: "invalid_request_error" } } };

describe("languages on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();
  const backend = backendOfBlock({
    answer: ({ userText }) =>
      userText.endsWith("fail")
        ? noKey
        : { text: arabic, ...(/at length/.test(userText) ? { stopReason: "max_tokens" } : {}) },
  });

  pageTest("what failed is said in Chinese on the Chinese page, with what the gateway said behind it", () =>
    withPage(
      browser(),
      backend().url,
      async (page) => {
        await write(page, "fail");
        const notice = page.locator(".notice[data-tone=error]");
        await notice.getByText("服务商拒绝了密钥或账户").waitFor();
        assert.doesNotMatch(await notice.locator(".notice-text").innerText(), /[a-z]{4}/);
        await notice.locator("summary").click();
        assert.match(await notice.locator("pre").innerText(), /openai refused the API key.*\nAUTH_FAILED/);
        await write(page, "/new");
        await page.getByText("新对话", { exact: true }).last().waitFor();
        assert.equal(await page.getByText("New conversation").count(), 0);
      },
      { context: { locale: "zh-CN" } },
    ),
  );

  pageTest("what is wrong in the config is said in Chinese on the Chinese page, wherever it is shown", async () => {
    const unfinished = await startBackend({ isUnfinished: true });
    try {
      await withPage(
        browser(),
        `${unfinished.url}#/system`,
        async (page) => {
          const lacks = "channels.telegram 已开启，但缺少 token";
          await page.locator(".banner.problem", { hasText: `${lacks}；channels.telegram 已关闭` }).waitFor();
          await page.locator(".system-problems li", { hasText: lacks }).waitFor();
          await page.goto(`${unfinished.url}#/channels`);
          await page.locator(".problem-text", { hasText: lacks }).waitFor();
          assert.equal(await page.getByText("is enabled but has no").count(), 0);
        },
        { context: { locale: "zh-CN" }, expected: /40\d/ },
      );
    } finally {
      await unfinished.stop();
    }
  });

  pageTest("all that an examination finds, and what to do about it, is in Chinese on the Chinese page", async () => {
    const telegram = { enabled: true, token: "4242:wrong", apiRoot: "http://127.0.0.1:9", allowFrom: ["*"] };
    const backend = await startBackend({ config: { channels: { telegram } } });
    try {
      await withPage(
        browser(),
        `${backend.url}#/system`,
        async (page) => {
          await page.getByRole("button", { name: "立即检查" }).click();
          const backups = page.locator(".card", { hasText: "没有备份" });
          await backups.getByText("处理办法：maxclaw backup").waitFor({ timeout: 60_000 });
          await page.locator(".card", { hasText: "任何人都可以与助手交谈，花您的钱" }).waitFor();
          for (const fine of await page.locator(".system-fine summary").all()) await fine.click();
          await page
            .getByText("不让陌生人进来")
            .or(page.getByText("没有被占用"))
            .or(page.getByText("没有错误"))
            .first()
            .waitFor();
          assert.deepEqual(await page.locator(".cards [lang=en], .system-fine [lang=en]").allInnerTexts(), []);
        },
        { context: { locale: "zh-CN" }, expected: /40\d/ },
      );
    } finally {
      await backend.stop();
    }
  });

  pageTest("without the page's own words what failed is said as the gateway says it", () =>
    withPage(
      browser(),
      backend().url,
      async (page) => {
        await write(page, "fail");
        await page.locator(".notice[data-tone=error]").getByText("openai refused the API key").waitFor();
        assert.equal(await page.getByText("服务商拒绝了密钥或账户").count(), 0);
      },
      {
        context: { locale: "zh-CN" },
        expected: /ERR_FAILED/,
        onPage: (page) => page.route(`**/assets/${wordsOfFailures()}`, (route) => route.abort()),
      },
    ),
  );

  pageTest("a picture for a model that sees none: one line says so, also below an answer that was cut", () =>
    withPage(
      browser(),
      backend().url,
      async (page) => {
        const ask = async (text: string): Promise<void> => {
          const [chooser] = await Promise.all([
            page.waitForEvent("filechooser"),
            page
              .getByRole("button", { name: /添加|附/ })
              .first()
              .click(),
          ]);
          await chooser.setFiles({ name: "cat.png", mimeType: "image/png", buffer: onePixel });
          await write(page, text);
        };
        await ask("what is this?");
        await page.getByText("这个模型看不到图片，只知道它们的名称。", { exact: true }).waitFor();
        assert.equal(await page.locator(".notice").count(), 1);
        await write(page, "and at length?");
        await page.getByText("回答达到模型的长度上限，被截断了。", { exact: true }).waitFor();
        await ask("what is this, at length?");
        await page.getByText("回答达到模型的长度上限，被截断了。 这个模型看不到图片，只知道它们的名称。").waitFor();
        assert.equal(await page.locator(".notice").count(), 3);
      },
      { context: { locale: "zh-CN" } },
    ),
  );

  pageTest("each paragraph and list runs in the direction of its own text", () =>
    withPage(browser(), backend().url, async (page) => {
      await write(page, "مرحبا");
      const answer = page.locator(".message.assistant .markdown");
      await answer.getByText("In English.").waitFor();
      const directionOf = (place: string, index = 0): Promise<string> =>
        answer
          .locator(place)
          .nth(index)
          .evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one).direction ?? "");
      assert.equal(await directionOf("p"), "rtl");
      assert.equal(await directionOf("ul"), "rtl");
      assert.equal(await directionOf("p", 1), "ltr");
      await page.getByLabel("Message", { exact: true }).fill("שלום");
      assert.equal(
        await page
          .getByLabel("Message", { exact: true })
          .evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one).direction),
        "rtl",
      );
    }),
  );
});

/** The one file that says what failures mean. */
function wordsOfFailures(): string {
  const assets = projectFile("dist/web/assets");
  const found = readdirSync(assets).filter((name) => /RATE_LIMIT:/.test(readFileSync(join(assets, name), "utf8")));
  assert.equal(found.length, 1, found.join(", "));
  return found[0] ?? "";
}

async function write(page: Page, text: string): Promise<void> {
  const field = page.locator(".composer textarea");
  await field.fill(text);
  await field.press("Enter");
}

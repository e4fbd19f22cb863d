import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { backendOfBlock, browserOfBlock } from "../../support/worlds/http/page-block.js";
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
    answer: ({ userText }) => (userText.endsWith("fail") ? noKey : { text: arabic }),
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

  pageTest("a picture for a model that sees none: one line says so", () =>
    withPage(
      browser(),
      backend().url,
      async (page) => {
        const [chooser] = await Promise.all([
          page.waitForEvent("filechooser"),
          page
            .getByRole("button", { name: /添加|附/ })
            .first()
            .click(),
        ]);
        await chooser.setFiles({ name: "cat.png", mimeType: "image/png", buffer: onePixel });
        await write(page, "what is this?");
        await page.getByText("这个模型看不到图片，只知道它们的名称。").waitFor();
        assert.equal(await page.locator(".notice").count(), 1);
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

async function write(page: Page, text: string): Promise<void> {
  const field = page.locator(".composer textarea");
  await field.fill(text);
  await field.press("Enter");
}

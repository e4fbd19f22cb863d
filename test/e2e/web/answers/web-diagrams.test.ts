import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { type PageOptions, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { backendOfBlock, browserOfBlock } from "../../../support/worlds/http/page-block.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const fenced = (source: string): string => `\`\`\`mermaid\n${source}\n\`\`\`\n\n`;
const flow = "graph LR; A[Home] --> B{Late?}; B -->|yes| C[Wait & see]";
/** Runs in the frame at most, where the policy stops it. */
const hostile =
  'graph TD\n A["<img src=x onerror=parent.document.title=1>"] --> B\n click A href "javascript:alert(1)"';
const answer = [
  "Here.\n\n",
  fenced(flow),
  fenced("sequenceDiagram\n  Alice->>Bob: Hello <br/> there"),
  fenced("graph TD; broken [[[ -->"),
  fenced(hostile),
  fenced('%%{init: {"securityLevel": "loose", "maxEdges": 1000000}}%%\npie\n "Dogs" : 3\n "Cats" : 1'),
  "That is all of it.",
];

describe("diagrams in answers on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();
  const backend = backendOfBlock({ answer: () => ({ text: answer }) });

  /** On a page with the answer. */
  const onAnswer = (scenario: (page: Page) => Promise<void>, options: PageOptions = {}): Promise<void> =>
    withPage(
      browser(),
      backend().url,
      async (page) => {
        await ask(page);
        await scenario(page);
      },
      { expected: /Executing inline event handler violates/, ...options },
    );

  async function ask(page: Page): Promise<void> {
    await page.getByRole("textbox", { name: "Message" }).fill("draw it");
    await page.keyboard.press("Enter");
    await page.locator(".message.assistant .markdown").filter({ hasText: "That is all of it." }).waitFor();
    await page.locator(".diagram img").nth(3).waitFor();
  }

  pageTest("a diagram is a picture above its source; what cannot be drawn stays its source", async () => {
    const asked: string[] = [];
    const onPage = (page: Page) => page.on("request", (request) => asked.push(request.url()));
    await onAnswer(
      async (page) => {
        const blocks = page.locator(".markdown .code");
        assert.deepEqual(
          await Promise.all((await blocks.all()).map((block) => block.locator("img").count())),
          [1, 1, 0, 1, 1],
        );
        const picture = blocks.first().locator("img");
        const size = await picture.boundingBox();
        assert.ok(size !== null && size.width > 200 && size.height > 40);
        const source = blocks.first().locator("pre");
        assert.equal(await source.isVisible(), false);
        await blocks.first().getByText("Source", { exact: true }).click();
        await source.waitFor();
        assert.equal(await source.textContent(), `${flow}\n`);
        assert.match(await blocks.nth(2).locator("pre").innerText(), /broken/);
        assert.deepEqual(await page.getByText("This diagram could not be drawn.").count(), 1);
        await blocks.nth(2).getByText("This diagram could not be drawn.").waitFor();
        assert.deepEqual(
          asked.filter((url) => !url.startsWith(new URL(backend().url).origin) && !url.startsWith("blob:")),
          [],
        );
      },
      { onPage },
    );
  });

  pageTest("what is drawn is redrawn for dark, and the end of the answer stays in sight", () =>
    onAnswer(async (page) => {
      await page.getByText("That is all of it.").last().waitFor();
      const end = await page.locator(".markdown p").last().boundingBox();
      assert.ok(end !== null && end.y > 0 && end.y + end.height < (page.viewportSize()?.height ?? 0));
      const first = page.locator(".markdown .code").first();
      const light = await first.locator("img").getAttribute("src");
      await page.emulateMedia({ colorScheme: "dark" });
      await first.locator(`img:not([src="${light}"])`).waitFor();
      assert.equal(await page.locator(".diagram img").count(), 4);
      assert.equal(await page.locator(".diagram-source").count(), 4);
    }),
  );

  pageTest("a large diagram is seen whole on a phone, and scrolls in its place only at full size", () =>
    onAnswer(
      async (page) => {
        const block = page.locator(".markdown .code").first();
        const place = block.locator(".diagram");
        const overflow = () => place.evaluate((one) => one.scrollWidth > one.clientWidth);
        assert.equal(await overflow(), false);
        const button = block.getByRole("button", { name: "Full size" });
        await button.click();
        assert.deepEqual([await overflow(), await button.getAttribute("aria-pressed")], [true, "true"]);
        await button.click();
        assert.equal(await overflow(), false);
      },
      { context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } },
    ),
  );

  pageTest("what draws has no origin: it reaches neither the page nor the gateway", () =>
    onAnswer(
      async (page) => {
        const title = await page.title();
        const frame = page.frames().find((one) => one.url().includes("/diagrams/"));
        const works = [
          "parent.document.title",
          "localStorage.length",
          "document.cookie",
          `fetch("${backend().url}api/status")`,
        ];
        const tried = await Promise.all(
          works.map((work) =>
            frame?.evaluate(work).then(
              () => "done",
              () => "refused",
            ),
          ),
        );
        assert.equal(await frame?.evaluate("origin"), "null");
        assert.deepEqual(
          tried,
          works.map(() => "refused"),
        );
        assert.equal(await page.title(), title);
      },
      { expected: /Executing inline event handler violates|Refused to connect|violates the following Content/ },
    ),
  );
});

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const rich = [
  "Sum: $a_1 + b^{2} \\ne \\frac{1}{2}$ and \\(x \\in \\mathbb{R}\\), for $5 and $10, or US$7 and 8$.\n\n",
  "$$\n\\int_0^1 x^2 \\, dx\n\\\\[2pt] = \\frac{1}{3}\n$$\n\n",
  "Before\n\\[ e = mc^2 \\]\n\n",
  "\\[citation needed\\] and $\\notacommand{$.\n\n",
  "- [x] bought\n- [ ] cooked\n\n",
  "Rice needs water[^1], as [^a-z] is a pattern and [^why] a reason.\n\n",
  "[^1]: Twice as **much**.\n[^why]: Because.\n\n",
  "<details>\n<summary>More **about** it</summary>\n\nInside *this*.\n\n- one\n\n</details>\n\n",
  "After the fold.\n\n",
  "| a | b | c | d | e | f |\n|---|---|---|---|---|---|\n",
  "| aaaaaaaaaaaaaaaaaaaa | bbbbbbbbbbbbbbbbbbbbbb | cccccccccccccccccccc | dddddddddddddddddddd | eeeeeeeeeeeeeeeee | ffffffff |\n\n",
  '```python\ndef hello(name):\n    return "Hello " + name  # greets\n```\n\n',
  "```nolanguage\nplain = 1\n```\n\nThat is all of it.",
];

const noted = [
  "First[^n], second[^n], third[^2]: all.\n\n",
  ...Array.from({ length: 60 }, (_, line) => `Line ${line}.\n\n`),
  "<details>\n<summary>Sources</summary>\n\n[^n]: One.\n\n    Two.\n\n</details>\n\n[^2]: Other.",
];

/** Written in pieces: a code block of which the last line is far away, a fold, and an end. */
const growing = [
  "First paragraph.\n\n",
  "```js\n",
  ...Array.from({ length: 12 }, (_, line) => `const value${line} = ${line};\n`),
  "```\n\n",
  "<details>\n<summary>Fold</summary>\n\n",
  ...Array.from({ length: 60 }, (_, word) => `inner${word} `),
  "\n\n</details>\n\nThe end.",
];

describe("answers on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend({
      answer: ({ userText }) =>
        userText.endsWith("be rich")
          ? { text: rich }
          : userText.endsWith("be noted")
            ? { text: noted }
            : { text: growing, chunkDelayMs: 60 },
    });
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  const onPage = (scenario: (page: Page, answer: Locator) => Promise<void>): Promise<void> =>
    withPage(browser, backend.url, (page) => scenario(page, page.locator(".message.assistant .markdown")));

  pageTest("formulas are drawn, and prices and escaped words stay text", () =>
    onPage(async (page, answer) => {
      await ask(page, "be rich", "That is all of it.");
      await answer.locator("math").nth(3).waitFor();
      assert.equal(await answer.locator("math").count(), 4);
      assert.equal(await answer.locator("math[display='block']").count(), 2);
      assert.equal(await answer.locator("math mfrac").count(), 2);
      assert.equal(await answer.locator("math annotation, math [style]").count(), 0);
      const text = (await answer.innerText()).replaceAll(/\s+/g, " ");
      assert.match(text, /for \$5 and \$10, or US\$7 and 8\$\./);
      assert.match(text, /\[citation needed\] and \$\\notacommand\{\$\./);
      const inner = await answer.locator("math").first().boundingBox();
      assert.ok(inner !== null && inner.width > 40 && inner.height > 10, "the browser draws MathML");
    }),
  );

  pageTest("tasks, footnotes, folds and wide tables", () =>
    onPage(async (page, answer) => {
      await ask(page, "be rich", "That is all of it.");
      assert.equal(await answer.getByRole("img", { name: "done" }).count(), 1);
      assert.equal(await answer.getByRole("img", { name: "open" }).count(), 1);
      assert.match(await answer.innerText(), /as \[\^a-z\] is a pattern/);
      await answer.getByRole("button", { name: "Footnote 1", exact: true }).press("Enter");
      const back = answer.getByRole("button", { name: "Footnote 1, back to the text" });
      assert.equal(await back.evaluate((one) => one === one.ownerDocument.activeElement), true);
      await back.press("Enter");
      assert.equal(
        await answer
          .locator(".footnote-ref button")
          .first()
          .evaluate((one) => one === one.ownerDocument.activeElement),
        true,
      );
      assert.equal(await answer.getByRole("button", { name: "Footnote why", exact: true }).count(), 1);
      assert.equal(await answer.locator(".footnote strong").textContent(), "much");
      const fold = answer.locator("details");
      assert.equal(await fold.getByText("Inside").isVisible(), false);
      await fold.locator("summary").click();
      await fold.getByText("Inside").waitFor();
      assert.equal(await fold.locator("summary strong").textContent(), "about");
      assert.equal(await fold.getByText("After the fold.").count(), 0);
      await page.setViewportSize({ width: 390, height: 844 });
      const frame = answer.getByRole("region", { name: "Table" });
      assert.equal(await frame.evaluate((one) => one.scrollWidth > one.clientWidth), true, "it scrolls inside");
      assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
    }),
  );

  pageTest("a footnote in a fold is opened, seen whole, and leads back to the mark that was pressed", () =>
    onPage(async (page, answer) => {
      await ask(page, "be noted", "Other.");
      const marks = answer.getByRole("button", { name: "Footnote n", exact: true });
      assert.equal(await marks.count(), 2);
      const isFocused = (place: Locator): Promise<boolean> =>
        place.evaluate((one) => one === one.ownerDocument.activeElement);
      await marks.nth(1).press("Enter");
      const back = answer.getByRole("button", { name: "Footnote n, back to the text" });
      assert.equal(await isFocused(back), true);
      assert.equal(await answer.locator(".footnote-text").first().locator("p").count(), 2);
      // What lies over the chat does not cover it.
      await back.click({ trial: true });
      await back.press("Enter");
      assert.equal(await isFocused(marks.nth(1)), true);
      await marks.nth(0).press("Enter");
      await back.press("Enter");
      assert.equal(await isFocused(marks.nth(0)), true);
    }),
  );

  pageTest("the mark of a footnote takes no room in its line for a finger that may come", () =>
    withPage(
      browser,
      backend.url,
      async (page) => {
        await ask(page, "be noted", "Other.");
        const lines = page.locator(".message.assistant .markdown p:has(.footnote-ref)");
        await lines.first().locator("button").first().waitFor();
        const [wide, line, mark] = await lines
          .first()
          .evaluate((one) => [
            one.querySelector("button")?.getBoundingClientRect().width ?? 0,
            one.getBoundingClientRect().height,
            one.querySelector("button")?.getBoundingClientRect().height ?? 0,
          ]);
        assert.ok(wide !== undefined && wide < 24 && mark !== undefined && mark < 24, `${wide} x ${mark}`);
        assert.ok(line !== undefined && line < 30, `the line is ${line} px high`);
      },
      { context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } },
    ),
  );

  pageTest("code has colours in light and dark, by classes, and its text is what was written", () =>
    onPage(async (page, answer) => {
      await ask(page, "be rich", "That is all of it.");
      const keyword = answer.locator(".token-keyword").first();
      await keyword.waitFor();
      const code = answer.locator("pre code").first();
      assert.equal(await code.textContent(), 'def hello(name):\n    return "Hello " + name  # greets\n');
      assert.equal(await answer.locator("[style]").count(), 0);
      const light = await colourAt(page, ".token-keyword");
      await page.emulateMedia({ colorScheme: "dark" });
      const dark = await colourAt(page, ".token-keyword");
      const plain = await colourAt(page, "pre code");
      assert.equal(new Set([light, dark, plain]).size, 3);
      assert.equal(await answer.locator("pre").nth(1).locator("span").count(), 0);
    }),
  );

  pageTest("nothing heavy is loaded before an answer needs it", () =>
    withPage(browser, backend.url, async (page) => {
      await page.getByLabel("Message", { exact: true }).waitFor();
      const loaded = (): Promise<string[]> =>
        page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)");
      assert.doesNotMatch((await loaded()).join(), /maths-|colours-|python-/);
      await ask(page, "be rich", "That is all of it.");
      await page.locator(".markdown .token-keyword").first().waitFor();
      await page.locator(".markdown math").first().waitFor();
      const names = (await loaded()).join();
      for (const name of ["maths-", "colours-", "python-"]) assert.ok(names.includes(name), name);
      assert.doesNotMatch(names, /csharp-|javascript-/);
    }),
  );

  pageTest("of an answer that grows only what is new is drawn: no node is replaced, nothing moves", () =>
    onPage(async (page, answer) => {
      await page.evaluate(watchNodes);
      await write(page, "grow");
      const fold = answer.locator("details");
      await fold.getByText("inner0").waitFor({ state: "attached" });
      await fold.locator("summary").click();
      await answer.getByText("The end.").waitFor();
      await page.locator(".token-keyword").first().waitFor();
      assert.equal(await fold.getAttribute("open"), "", "what the reader has opened stays open");
      assert.match((await fold.textContent()) ?? "", /inner0 inner1 .* inner59/);
      const seen = await page.evaluate<{ removed: string[]; moved: number; paintedWhileGrowing: number }>(
        "window.seen",
      );
      assert.deepEqual(seen.removed, []);
      assert.equal(seen.moved, 0);
      assert.equal(seen.paintedWhileGrowing, 0, "code gets its colours once it is complete");
    }),
  );
});

const colourAt = (page: Page, selector: string): Promise<string> =>
  page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).color`);

/** Counts the elements that are taken out of answers, and blocks that get another place in their answer. */
const watchNodes = `{
  window.seen = { removed: [], moved: 0, paintedWhileGrowing: 0 };
  const tops = new Map();
  new MutationObserver((records) => {
    for (const { target, removedNodes, addedNodes } of records) {
      if (!(target instanceof Element) || target.closest(".markdown") === null) continue;
      for (const node of removedNodes) if (node instanceof Element) window.seen.removed.push(node.outerHTML);
      for (const node of addedNodes)
        if (node instanceof Element && node.className.startsWith("token-") && !document.querySelector(".markdown details"))
          if (document.querySelector(".markdown").lastElementChild.contains(node)) window.seen.paintedWhileGrowing++;
    }
    for (const block of document.querySelectorAll(".markdown > .block")) {
      const top = block.offsetTop - block.parentElement.offsetTop;
      if (tops.has(block) && tops.get(block) !== top) window.seen.moved++;
      tops.set(block, top);
    }
  }).observe(document.body, { childList: true, characterData: true, subtree: true });
}`;

async function write(page: Page, text: string): Promise<void> {
  const composer = page.getByLabel("Message", { exact: true });
  await composer.fill(text);
  await composer.press("Enter");
}

async function ask(page: Page, text: string, end: string): Promise<void> {
  await write(page, text);
  await page.locator(".message.assistant .markdown").filter({ hasText: end }).waitFor();
  await page.locator(".message.streaming").waitFor({ state: "detached" });
}

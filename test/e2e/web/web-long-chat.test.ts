import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openChromium, pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../support/worlds/needs.js";

const turns = 5000;
const key = "webui:0000beef";
const mostNodes = 12_000;
const mostHeap = 120_000_000;
/** Small: most of the time goes into drawing. */
const context = { viewport: { width: 800, height: 500 } };

describe("a chat of 10,000 messages on the web page", { timeout: 500_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend({ history: { [key]: turns } });
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  pageTest("scrolls to its oldest message and back without a jump, within 120 MB and with few elements", () =>
    withPage(
      browser,
      `${backend.url}#${key}`,
      async (page) => {
        await page.getByText(`Question ${turns}`, { exact: true }).waitFor();
        await page.evaluate(countFormats);
        const up = await walk(page, -1, "Question 1");
        assert.equal(up.jumps.join("; "), "", "what is being read stays where it is on the way up");
        assert.ok(up.mostNodes < mostNodes, `${up.mostNodes} elements`);
        assert.ok((await heapOf(page)) < mostHeap, `${await heapOf(page)} bytes with all of it loaded`);
        assert.ok(Number(await page.evaluate("formats")) < 10, "what writes dates is made once, not for each message");
        // All of it is loaded: the rest of the way is the same again and again.
        const down = await walk(page, 1, "Question 400");
        assert.equal(down.jumps.join("; "), "", "nor on the way down");
        assert.ok(down.mostNodes < mostNodes, `${down.mostNodes} elements`);
        if (process.env.MAXCLAW_FIGURES !== undefined)
          console.log({ up: figuresOf(up), down: figuresOf(down), heap: await heapOf(page) });
      },
      { context },
    ),
  );

  pageTest("what the page's search finds far up opens at its place, and the newest is one press away", () =>
    withPage(
      browser,
      backend.url,
      async (page) => {
        // The first search reads all of it.
        const search = async (): Promise<unknown> =>
          (await page.request.get(`${backend.url}api/search?q=${encodeURIComponent("question")}`)).json();
        while (!JSON.stringify(await search()).includes('"isComplete":true')) {}
        await page.getByLabel("Search all chats").fill('"question 1234"');
        const hit = page.locator(".hits .session", { hasText: "Question 1234" }).first();
        await hit.locator("mark").first().waitFor();
        await hit.locator("button").click();
        const found = page.locator(".message.found");
        await found.waitFor();
        assert.match((await found.textContent()) ?? "", /Question 1234/);
        const { y = 0, height = 0 } = (await found.boundingBox()) ?? {};
        assert.ok(y > 0 && y + height < context.viewport.height, `it is in sight at ${y}`);
        assert.ok((await page.locator(".items *").count()) < mostNodes);
        await page.getByRole("button", { name: "Go to the newest message" }).click();
        await page.getByText(`Question ${turns}`, { exact: true }).waitFor();
      },
      { context },
    ),
  );
});

/** Counts in `formats` how often the page makes something that writes dates. */
const countFormats = `(() => {
  globalThis.formats = 0;
  Intl.DateTimeFormat = new Proxy(Intl.DateTimeFormat, { construct: (made, given) => { formats += 1; return new made(...given); } });
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
    const real = Date.prototype[name];
    Date.prototype[name] = function (...given) { formats += 1; return real.apply(this, given); };
  }
})()`;

interface Walk {
  readonly jumps: readonly string[];
  readonly mostNodes: number;
  readonly longestFrameMs: number;
  readonly slowFrames: number;
  readonly frames: number;
}

const figuresOf = ({ jumps: _jumps, ...figures }: Walk): Omit<Walk, "jumps"> => figures;

/** Scrolls step by step until a message is there (upwards: and nothing is above it), and compares where what was read is before and after the page has made room. */
async function walk(page: Page, direction: 1 | -1, last: string): Promise<Walk> {
  // What the script below gives.
  return (await page.evaluate(walkScript(direction, last))) as Walk;
}

const walkScript = (direction: number, last: string): string => `(async () => {
  const scroller = document.querySelector(".scroller");
  const list = document.querySelector(".items");
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const topOf = (element) => element.getBoundingClientRect().top;
  const isLast = () => [...list.querySelectorAll(".message.user .bubble")].some(({ textContent }) => textContent === ${JSON.stringify(last)});
  const edge = () => ${direction} > 0 || scroller.scrollTop <= 1;
  const found = { jumps: [], mostNodes: 0, longestFrameMs: 0, slowFrames: 0, frames: 0 };
  const end = performance.now() + 200_000;
  while (!(isLast() && edge())) {
    if (performance.now() > end) throw new Error("the last message did not come");
    // As far as there is anything: each step has more come.
    scroller.scrollTop += ${direction} * 20_000;
    const { left, top } = scroller.getBoundingClientRect();
    const middle = document.elementFromPoint(left + scroller.clientWidth / 2, top + scroller.clientHeight / 2);
    const read = middle?.closest(".items > *");
    const before = read && topOf(read);
    for (let count = 0; count < 2; count += 1) {
      const startedAt = performance.now();
      await frame();
      const took = performance.now() - startedAt;
      found.frames += 1;
      found.slowFrames += took > 50 ? 1 : 0;
      found.longestFrameMs = Math.max(found.longestFrameMs, took);
    }
    if (read && (!read.isConnected || Math.abs(topOf(read) - before) > 2))
      found.jumps.push(read.textContent.slice(0, 40) + ": " + before + " → " + (read.isConnected ? topOf(read) : "gone"));
    found.mostNodes = Math.max(found.mostNodes, list.getElementsByTagName("*").length);
  }
  return found;
})()`;

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0;
}

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import { openChromium } from "../../test/support/worlds/http/chromium.js";
import { type FirstPaint, firstPaintOf } from "../../test/support/worlds/http/first-paint.js";
import { startBackend } from "../../test/support/worlds/http/web-gateway.js";
import { median } from "./measure.js";

const budgetMs = 300;
const rounds = 9;

/** The first picture of the page, in turn with that of a page that is one word. Resolves with whether the budget is kept. */
export async function benchPage(): Promise<boolean> {
  const word = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>x</title><p>Hello");
  });
  word.listen(0, "127.0.0.1");
  await once(word, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = word.address() as AddressInfo;
  const backend = await startBackend({ history: { "webui:0000beef": 6, "telegram:42": 2 } });
  const browser = await openChromium();
  const seen: { readonly page: FirstPaint[]; readonly word: FirstPaint[] } = { page: [], word: [] };
  try {
    for (let round = 0; round < rounds; round += 1) {
      seen.word.push(await firstPaintOf(browser, `http://127.0.0.1:${port}/`));
      seen.page.push(await firstPaintOf(browser, backend.url));
    }
  } finally {
    await browser.close();
    await backend.stop();
    word.close();
  }
  const row = (name: string, all: readonly FirstPaint[], of: keyof FirstPaint): string => {
    const each = all.map((one) => one[of]);
    return `${name}: least ${Math.round(Math.min(...each))}, median ${Math.round(median(each))}`;
  };
  for (const [what, of] of [
    ["CPU time of the main thread up to the first picture, ms", "workedMs"],
    ["of it scripts, ms", "scriptMs"],
    ["by the clock, ms", "clockMs"],
  ] as const)
    console.log(`${what} · ${row("the page", seen.page, of)} · ${row("one word", seen.word, of)}`);
  const isKept = median(seen.page.map(({ workedMs }) => workedMs)) <= budgetMs;
  console.log(`load ${loadavg()[0]?.toFixed(1)} · budget ${budgetMs} ms of CPU time ${isKept ? "kept" : "not kept"}`);
  return isKept;
}

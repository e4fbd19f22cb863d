import type { BrowserContext, Page } from "playwright-core";
import { messageOf } from "../../errors.js";
import { EgressError } from "../../policy/locations/egress.js";
import { linked } from "../../util/async/linked.js";
import { within } from "../../util/async/within.js";
import type { RenderedPage, RenderPage } from "../web/web-fetch.js";
import type { Browsers, HeldBrowser } from "./browsers.js";

/** How long scripts may still fill the page. */
const settleMs = 4000;
const maxCharacters = 5_000_000;

/** Reads pages in a browser of its own. Nothing of one page is left when the next one is read. */
export function createRenderer(browsers: Browsers, key: string, timeoutMs: number): RenderPage {
  return async (url, { signal, permissions }) => {
    using held = await browsers.hold(key);
    using scope = linked(signal, timeoutMs + settleMs);
    const context = await newContext(held);
    try {
      const page = await within(load(await context.newPage(), url, timeoutMs, held), { signal: scope.signal });
      if (page.url !== url && !permissions.allows({ kind: "network", url: page.url, sends: false }))
        throw new EgressError(`${url} leads to ${page.url}, which is not allowed as such; ask for that address.`);
      return page;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EgressError) throw error;
      if (scope.signal.aborted || isTimeout(error))
        throw new EgressError(`${url} was not ready within ${timeoutMs / 1000} seconds.`);
      const refusal = URL.canParse(url) ? held.refusalOf(new URL(url).hostname) : undefined;
      throw new EgressError(
        refusal ?? `${url} could not be opened: ${(messageOf(error).split("\n")[0] ?? "").slice(0, 200)}`,
      );
    } finally {
      await context.close().catch(() => undefined);
    }
  };
}

/** Playwright's own error; the package is loaded only with the browser. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

/** Cookies, storage and the windows that a page opens go with it. */
async function newContext({ context }: HeldBrowser): Promise<BrowserContext> {
  const made = await context.browser()?.newContext({ acceptDownloads: false, serviceWorkers: "block" });
  if (made === undefined) throw new EgressError("The browser has ended; try again.");
  return made;
}

async function load(page: Page, url: string, timeoutMs: number, held: HeldBrowser): Promise<RenderedPage> {
  const response = await page
    .goto(url, { waitUntil: "domcontentloaded", timeout: timeoutMs })
    .catch((error: unknown) => {
      throw messageOf(error).includes("Download is starting") ? noPage(url) : error;
    });
  if (/^application\/pdf/i.test(response?.headers()["content-type"] ?? "")) throw noPage(url);
  await page.waitForLoadState("networkidle", { timeout: settleMs }).catch(() => undefined);
  const end = page.url();
  const status = response?.status() ?? 200;
  const refusal = status === 403 ? held.refusalOf(new URL(end).hostname) : undefined;
  if (refusal !== undefined) throw new EgressError(refusal);
  return { html: await htmlOf(page), url: end, status };
}

function noPage(url: string): EgressError {
  return new EgressError(`${url} is a file, not a web page; fetch it with mode http.`);
}

/** Cut within the page, out of reach of its scripts: all of it may be more than this process has memory for. */
async function htmlOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const world = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  const { result } = await session.send("Runtime.evaluate", {
    expression: `document.documentElement.outerHTML.slice(0, ${maxCharacters})`,
    contextId: world.executionContextId,
    returnByValue: true,
  });
  return typeof result.value === "string" ? result.value : "";
}

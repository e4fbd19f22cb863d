import path from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { z } from "zod";
import { messageOf } from "../../errors.js";
import { EgressError } from "../../policy/locations/egress.js";
import { screenshotFiles } from "../../policy/locations/zones.js";
import { sleep } from "../../util/async/sleep.js";
import { within } from "../../util/async/within.js";
import { cutText } from "../../util/text/cut-text.js";
import { keepFile } from "../keep-file.js";
import { defineTool, failed, type Tool, type ToolContext, type ToolPermissions, type ToolResult } from "../tool.js";
import { toWebAddress } from "../web/request.js";
import { visit } from "../web/web-fetch.js";
import type { Browsers, HeldBrowser } from "./browsers.js";

const navigationMs = 30_000;
const actionMs = 10_000;
/** How long a page may still change after it was acted on. */
const settleMs = 1500;
/** How soon a page opens a tab that it opens by itself, and how long a link may take to open one. */
const popupMs = 200;
const newTabMs = 5000;
const maxTabs = 10;
/** What is shown of the page after an action; `snapshot` shows all of it. */
const shortSnapshot = 6000;

const input = z.object({
  action: z.enum(["navigate", "snapshot", "click", "type", "press", "wait", "screenshot", "tabs", "close"]),
  url: z.string().optional(),
  ref: z.string().optional().describe("from the snapshot"),
  text: z.string().max(10_000).optional().describe("to type or wait for, or key to press"),
  tab: z.int().min(1).optional(),
});
type Input = z.infer<typeof input>;

/** What policy is asked about before it is done. */
const asking: ReadonlySet<string> = new Set(["navigate", "click", "type", "press"]);

export function browserTool(browsers: Browsers): Tool {
  return defineTool({
    name: "browser",
    description: "Use web pages in this chat's own browser; tabs switches tabs.",
    input,
    effect: "write",
    risk: "access",
    asksNothing: (given) => !asking.has(input.safeParse(given).data?.action ?? ""),
    origin: "builtin",

    async run(wish, context) {
      const result = await used(wish, context, browsers);
      return wish.action === "wait" ? { ...result, isPoll: true } : result;
    },
  });
}

async function used(wish: Input, context: ToolContext, browsers: Browsers): Promise<ToolResult> {
  try {
    const address = wish.action === "navigate" ? toWebAddress((wish.url ?? "").trim()).href : undefined;
    const refusal = address === undefined ? undefined : await context.permit(visit(address, context.conversation));
    if (refusal !== undefined) return failed(refusal, "the page was not opened");
    using held = await browsers.hold(context.sessionKey);
    return await untilAborted(act({ wish, address, context, held }), context.signal, held);
  } catch (error) {
    if (error instanceof EgressError) return failed(error.message, "the browser did not do it");
    if (error instanceof Error && isOfPlaywright(error)) return failed(sentenceOf(error), "the browser did not do it");
    throw error;
  }
}

interface Scope {
  readonly wish: Input;
  readonly address: string | undefined;
  readonly context: ToolContext;
  readonly held: HeldBrowser;
}

async function act({ wish, address, context, held }: Scope): Promise<ToolResult> {
  const page = await currentPage(held.context, wish.tab);
  switch (wish.action) {
    case "navigate":
      wasPermitted(page, address ?? "");
      await navigate(page, address ?? "", held);
      return { ...(await shown(page, context, "opened")), visited: address };
    case "snapshot":
      return await shown(page, context, "looked at", Number.POSITIVE_INFINITY);
    case "click": {
      const target = await byRef(page, wish.ref);
      const link = await linkOf(target);
      const refusal = await refusalToSend(page, context, link?.href);
      const tabMs = link?.opensTab ? newTabMs : popupMs;
      return refusal ?? (await then(page, context, "clicked on", () => target.click({ timeout: actionMs }), tabMs));
    }
    case "type": {
      const target = await byRef(page, wish.ref);
      return (
        (await refusalToSend(page, context)) ??
        (await then(page, context, "typed into", () => target.fill(wish.text ?? "", { timeout: actionMs })))
      );
    }
    case "press": {
      const key = wish.text ?? "";
      if (key === "") throw new EgressError("press needs text: the name of a key, e.g. Enter.");
      return (
        (await refusalToSend(page, context)) ??
        (await then(page, context, "pressed a key on", () => pressKey(page, wish.ref, key)))
      );
    }
    case "wait":
      await waitFor(page, wish.text);
      return await shown(page, context, "waited for");
    case "screenshot":
      return await screenshot(page, wish.ref, context);
    case "close":
      await page.close();
      return await listTabs(held.context);
    case "tabs":
      if (wish.tab !== undefined) await inTime(page.bringToFront());
      return await listTabs(held.context);
    default:
      return wish.action satisfies never;
  }
}

/** The last tab that was chosen or opened, or the one of this number. */
async function currentPage(context: BrowserContext, tab: number | undefined): Promise<Page> {
  const pages = context.pages();
  for (const extra of pages.slice(maxTabs)) await extra.close();
  if (tab !== undefined) {
    const chosen = context.pages()[tab - 1];
    if (chosen === undefined) throw new EgressError(`There is no tab ${tab}; there are ${context.pages().length}.`);
    chosenTabs.set(context, chosen);
    return chosen;
  }
  const before = chosenTabs.get(context);
  const current =
    before !== undefined && !before.isClosed() ? before : (context.pages().at(-1) ?? (await context.newPage()));
  chosenTabs.set(context, current);
  return current;
}

/** The tab that each browser is at. */
const chosenTabs = new WeakMap<BrowserContext, Page>();

async function navigate(page: Page, url: string, held: HeldBrowser): Promise<void> {
  const response = await page
    .goto(url, { waitUntil: "domcontentloaded", timeout: navigationMs })
    .catch((error: unknown) => {
      throw refusalFor(held, url) ?? error;
    });
  const refusal = response?.status() === 403 ? refusalFor(held, response.url()) : undefined;
  if (refusal !== undefined) throw refusal;
  await settle(page);
}

function refusalFor({ refusalOf }: HeldBrowser, url: string): EgressError | undefined {
  const sentence = URL.canParse(url) ? refusalOf(new URL(url).hostname) : undefined;
  return sentence === undefined ? undefined : new EgressError(sentence);
}

/** Does something to the page and shows what has happened to it, or the tab that it has opened. */
async function then(
  page: Page,
  context: ToolContext,
  what: string,
  action: () => Promise<void>,
  tabMs = popupMs,
): Promise<ToolResult> {
  const browser = page.context();
  const waiting = new AbortController();
  const tabs: Page[] = [];
  const onPage = (opened: Page): void => {
    tabs.push(opened);
    waiting.abort();
  };
  browser.once("page", onPage);
  try {
    await action();
    await sleep(tabMs, waiting.signal).catch(() => undefined);
  } finally {
    browser.off("page", onPage);
  }
  const now = tabs[0] ?? page;
  chosenTabs.set(browser, now);
  await settle(now);
  return await shown(now, context, what);
}

async function settle(page: Page): Promise<void> {
  await page.waitForLoadState("domcontentloaded", { timeout: settleMs }).catch(() => undefined);
  await page.waitForLoadState("networkidle", { timeout: settleMs }).catch(() => undefined);
}

async function byRef(page: Page, ref: string | undefined): Promise<Locator> {
  if (ref === undefined || !/^\w+$/.test(ref))
    throw new EgressError("That needs a ref as the snapshot shows it, e.g. e5.");
  const found = page.locator(`aria-ref=${ref}`);
  if ((await inTime(found.count())) === 0)
    throw new EgressError(`There is no ref ${ref} on the page now; take a snapshot.`);
  return found;
}

async function pressKey(page: Page, ref: string | undefined, key: string): Promise<void> {
  if (ref === undefined) await inTime(page.keyboard.press(key));
  else await (await byRef(page, ref)).press(key, { timeout: actionMs });
}

async function waitFor(page: Page, text: string | undefined): Promise<void> {
  if (text === undefined) await page.waitForLoadState("networkidle", { timeout: actionMs }).catch(() => undefined);
  else await page.getByText(text).first().waitFor({ timeout: actionMs });
}

interface Link {
  readonly href: string;
  readonly opensTab: boolean;
}

/** The part of an element of the page that is looked at there. */
interface PageElement {
  closest(selector: string): { readonly href?: unknown; readonly target?: unknown } | null;
}

/** The link that the page has named; undefined for whatever else can be clicked on. */
async function linkOf(target: Locator): Promise<Link | undefined> {
  const read = (element: PageElement): Link => {
    const link = element.closest("a[href]");
    return { href: typeof link?.href === "string" ? link.href : "", opensTab: link?.target === "_blank" };
  };
  const link = await inTime(target.evaluate(read, undefined, { timeout: actionMs }));
  return /^https?:\/\//.test(link.href) ? link : undefined;
}

/** Whatever is pressed or typed on a page may send something; following one of its links does not. */
async function refusalToSend(page: Page, context: ToolContext, link?: string): Promise<ToolResult | undefined> {
  const url = link ?? page.url();
  const refusal = await context.permit({ kind: "network", url, sends: link === undefined });
  if (refusal !== undefined) return failed(refusal, "the browser did not do it");
  wasPermitted(page, url);
  return undefined;
}

/** The origins that policy, or a person, has let each browser go to. */
const permittedOrigins = new WeakMap<BrowserContext, Set<string>>();

function wasPermitted(page: Page, url: string): void {
  const known = permittedOrigins.get(page.context()) ?? new Set();
  permittedOrigins.set(page.context(), known.add(originOf(url)));
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "";
}

/** @throws {EgressError} where a redirect or a script has led to what a rule does not allow as such */
function refuseToShow(page: Page, { allows }: ToolPermissions): void {
  const url = page.url();
  if (!/^https?:/.test(url) || permittedOrigins.get(page.context())?.has(originOf(url)) === true) return;
  if (allows({ kind: "network", url, sends: false })) return;
  throw new EgressError(`The page has led to ${cutText(url, 200)}, which is not allowed as such; navigate there.`);
}

async function shown(page: Page, context: ToolContext, what: string, limit = shortSnapshot): Promise<ToolResult> {
  refuseToShow(page, context.permissions);
  const snapshot = await page.ariaSnapshot({ mode: "ai", timeout: actionMs });
  const title = await titleOf(page, 200);
  const cut = snapshot.length > limit ? "\n[cut here; snapshot shows all of it]" : "";
  const others = page.context().pages().length > 1 ? `\n[${page.context().pages().length} tabs]` : "";
  return {
    text: `${page.url()}\n${title}\n${cutText(snapshot, limit)}${cut}${others}`.toWellFormed(),
    isError: false,
    summary: `${what} ${cutText(page.url(), 100)}`,
    outside: cutText(page.url(), 200),
    addresses: "links",
  };
}

async function titleOf(page: Page, length: number): Promise<string> {
  return cutText((await inTime(page.title())).replace(/\s+/g, " "), length);
}

/** For what playwright sets no limit to: a page whose script never ends would hold up its chat for as long. */
function inTime<T>(work: Promise<T>): Promise<T> {
  return within(work, { ms: actionMs, late: () => new EgressError("The page does not answer; close its tab.") });
}

async function listTabs(context: BrowserContext): Promise<ToolResult> {
  const current = chosenTabs.get(context);
  const lines = await Promise.all(
    context.pages().map(async (page, index) => {
      const title = await titleOf(page, 100).catch(() => "(does not answer)");
      return `${index + 1}${page === current ? " (this one)" : ""}: ${title} ${cutText(page.url(), 200)}`;
    }),
  );
  return {
    text: lines.join("\n") || "No tab is open.",
    isError: false,
    summary: `${lines.length} ${lines.length === 1 ? "tab" : "tabs"}`,
    outside: "titles of pages",
  };
}

/** A picture for the model to see and for the people in the chat. */
async function screenshot(page: Page, ref: string | undefined, context: ToolContext): Promise<ToolResult> {
  refuseToShow(page, context.permissions);
  const bytes =
    ref === undefined
      ? await page.screenshot({ timeout: actionMs })
      : await (await byRef(page, ref)).screenshot({ timeout: actionMs });
  const filename = `screenshot-${context.call.toolCallId.replace(/[^\w-]/g, "_").slice(0, 80)}.png`;
  const file = await keepFile(path.join(screenshotFiles, filename), bytes, context);
  const given = await context.chat.artifact({ path: file, filename });
  const note = given.ok && given.isShown && !context.call.isSubAgent ? "" : " The person was not shown it.";
  return {
    text: `[${file}: ${bytes.length} bytes]${note}`,
    isError: false,
    summary: `took a picture of ${cutText(page.url(), 100)}`,
    outside: cutText(page.url(), 200),
    images: [{ path: file, filename, mimeType: "image/png" }],
  };
}

/** A page that does not come to an end holds up no stop: its tab is closed. */
async function untilAborted(
  work: Promise<ToolResult>,
  signal: AbortSignal,
  { context }: HeldBrowser,
): Promise<ToolResult> {
  const onAbort = (): void =>
    void chosenTabs
      .get(context)
      ?.close()
      .catch(() => undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await work;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function isOfPlaywright(error: Error): boolean {
  return (
    error.name === "TimeoutError" ||
    /^(page|locator|keyboard|browserContext|frame|elementHandle)\.|Target .*closed|net::/.test(error.message)
  );
}

function sentenceOf(error: Error): string {
  const text = messageOf(error).split("\n")[0] ?? "";
  const code = /net::(ERR_\w+)/.exec(text)?.[1];
  if (code === "ERR_NAME_NOT_RESOLVED" || code === "ERR_TUNNEL_CONNECTION_FAILED")
    return "The server could not be reached.";
  if (code !== undefined) return `The page could not be opened (${code}).`;
  return error.name === "TimeoutError"
    ? "The page did not do that in time; take a snapshot, or close its tab."
    : cutText(text, 300);
}

import assert from "node:assert/strict";
import { it } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findChromium, findChromiumShell } from "../needs.js";

/**
 * The system's Chromium without a window, kept from calling anybody but the test's own server. Its shell where there is one:
 * the same pages for two thirds of the time, without notifications and PDF files. `names`: hosts of the test that are this
 * machine.
 */
export function openChromium(
  names: readonly string[] = [],
  more: readonly string[] = [],
): Promise<Browser & AsyncDisposable> {
  return launch(findChromiumShell() ?? findChromium(), names, more);
}

/** With notifications and what shows PDF files. */
export function openWholeChromium(
  names: readonly string[] = [],
  more: readonly string[] = [],
): Promise<Browser & AsyncDisposable> {
  return launch(findChromium(), names, more);
}

async function launch(
  executablePath: string | undefined,
  names: readonly string[],
  more: readonly string[],
): Promise<Browser & AsyncDisposable> {
  const browser = await chromium.launch({
    executablePath: executablePath ?? "chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-quic",
      ...more,
      // A microphone that beeps, and that nobody has to be asked for.
      "--use-fake-device-for-media-stream",
      "--use-fake-ui-for-media-stream",
      ...(names.length === 0
        ? []
        : [`--host-resolver-rules=${names.map((name) => `MAP ${name} 127.0.0.1`).join(",")}`]),
    ],
  });
  return Object.assign(browser, { [Symbol.asyncDispose]: () => browser.close() });
}

/** A test in the browser. A busy CI machine gets a second try, and the report says so. */
export function pageTest(name: string, run: () => Promise<void>, skip: string | false = false): void {
  it(name, { skip }, async (t) => {
    try {
      await run();
    } catch (error) {
      if (process.env.CI === undefined) throw error;
      t.diagnostic(`second try after: ${String(error)}`);
      await run();
    }
  });
}

export interface PageOptions {
  /** Without a service worker, which takes as long as the page itself, unless it says otherwise. */
  readonly context?: BrowserContextOptions | undefined;
  /** How long the scenario waits for anything. Default 20 s. */
  readonly limitMs?: number | undefined;
  /** Typed in where the page asks for it. */
  readonly token?: string | undefined;
  /** What the browser itself says about a refused request that the scenario is about. */
  readonly expected?: RegExp | undefined;
  /** Called before the page is opened. */
  readonly onPage?: ((page: Page) => unknown) | undefined;
}

/** What Playwright causes itself: the client asks a socket whether it is open before it sends, a route between them does not. */
const ofPlaywright = /Service Worker registration blocked by Playwright|WebSocket is already in CLOSING/;

/** Runs a scenario on a fresh page and fails when the browser complained about anything. */
export async function withPage(
  browser: Browser,
  url: string,
  scenario: (page: Page) => Promise<void>,
  { context, limitMs = 20_000, token, expected, onPage }: PageOptions = {},
): Promise<void> {
  const opened = await browser.newContext({
    viewport: { width: 1200, height: 800 },
    serviceWorkers: "block",
    ...context,
  });
  const complaints: string[] = [];
  try {
    const page = await opened.newPage();
    page.setDefaultTimeout(limitMs);
    page.on("console", (message) => {
      const isComplaint = message.type() === "error" || message.type() === "warning";
      const isExpected = expected?.test(message.text()) === true || ofPlaywright.test(message.text());
      if (isComplaint && !isExpected) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    await onPage?.(page);
    await page.goto(url);
    if (token !== undefined) {
      await page.getByRole("textbox", { name: "Token" }).fill(token);
      await page.getByRole("button", { name: "Connect" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await scenario(page);
  } finally {
    await opened.close();
  }
  assert.deepEqual(complaints, [], "the browser's console stays empty");
}

/** The same where the page's service worker is meant. */
export function withWorker(
  browser: Browser,
  url: string,
  scenario: (page: Page) => Promise<void>,
  options: PageOptions = {},
): Promise<void> {
  return withPage(browser, url, scenario, { ...options, context: { serviceWorkers: "allow", ...options.context } });
}

import { it } from "node:test";
import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./needs.js";

/** The system's Chromium without a window, kept from calling anybody but the test's own server. */
export async function openChromium(): Promise<Browser & AsyncDisposable> {
  const browser = await chromium.launch({
    executablePath: findChromium() ?? "chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-quic",
    ],
  });
  return Object.assign(browser, { [Symbol.asyncDispose]: () => browser.close() });
}

/** A test in the browser. A busy CI machine gets a second try, and the report says so. */
export function pageTest(name: string, run: () => Promise<void>): void {
  it(name, async (t) => {
    try {
      await run();
    } catch (error) {
      if (process.env.CI === undefined) throw error;
      t.diagnostic(`second try after: ${String(error)}`);
      await run();
    }
  });
}

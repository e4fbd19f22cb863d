import assert from "node:assert/strict";
import axe from "axe-core";
import type { Page } from "playwright-core";

interface Found {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly target: readonly unknown[] }[];
  }[];
}

/** Fails with what a screen reader or a keyboard could not use of the page as it is now. */
export async function assertAccessible(page: Page): Promise<void> {
  assert.deepEqual(await barriersIn(page), []);
}

/** What a screen reader or a keyboard could not use of the page as it is now. */
export async function barriersIn(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  // What axe answers, by its documentation.
  const { violations } = (await page.evaluate("axe.run()")) as Found;
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ target }) => target.join(" ")).join(", ")})`,
  );
}

import assert from "node:assert/strict";
import axe from "axe-core";
import type { Page } from "playwright-core";

/** Fails with what a screen reader or a keyboard could not use of the page as it is now. */
export async function assertAccessible(page: Page): Promise<void> {
  assert.deepEqual(await barriersIn(page), []);
}

/** What a screen reader or a keyboard could not use of the page as it is now. */
export function barriersIn(page: Page): Promise<readonly string[]> {
  return found(page, "");
}

/** The part of it that depends on colours. */
export function colourBarriersIn(page: Page): Promise<readonly string[]> {
  return found(page, ", runOnly: ['color-contrast', 'link-in-text-block']");
}

/** Everything that is not a barrier stays in the browser: to bring it here takes longer than to find it. */
async function found(page: Page, only: string): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>("typeof axe === 'object'"))) await page.evaluate(axe.source);
  return await page.evaluate<
    readonly string[]
  >(`axe.run({ resultTypes: ['violations']${only} }).then(({ violations }) =>
    violations.map(({ id, help, nodes }) => id + ": " + help + " (" + nodes.map(({ target }) => target.join(" ")).join(", ") + ")"))`);
}

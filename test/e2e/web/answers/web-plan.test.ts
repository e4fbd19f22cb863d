import assert from "node:assert/strict";
import { join } from "node:path";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { backendOfBlock, browserOfBlock } from "../../../support/worlds/http/page-block.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

describe("a plan on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();
  const backend = backendOfBlock();

  const onPage = (width: number, scenario: (page: Page) => Promise<void>): Promise<void> =>
    withPage(browser(), backend().url, scenario, { context: { viewport: { width, height: 800 } } });

  pageTest(
    "is above the composer, moves as it is worked on, is paused and continued there, and goes when it is done",
    () =>
      onPage(1200, async (page) => {
        const panel = page.locator(".plan-panel");
        const steps = panel.locator("li");
        assert.equal(await panel.isVisible(), false);
        await write(page, "/plan Plan the move");
        await panel.getByText("0 of 3, waits for your go").waitFor();
        await answered(page, "Shall I begin?");
        assert.deepEqual(
          (await steps.allTextContents()).map((text) => text.replace(/ready|pending/, "")),
          ["○Pack", "○Drive", "○Unpack"],
        );
        await shoot(page, "plan");
        await panel.getByRole("button", { name: "Go" }).click();
        await panel.getByText("1 of 3, under way").waitFor();
        assert.equal((await panel.locator(".plan-mark").allTextContents()).join(""), "✓○○");
        await panel.getByText("12 boxes").waitFor();
        await page.locator(".message.assistant .markdown").filter({ hasText: "Packed" }).waitFor();
        await panel.getByRole("button", { name: "Pause" }).click();
        await panel.getByText("1 of 3, paused").waitFor();
        await page.locator(".working").waitFor({ state: "hidden" });
        await page.reload();
        await panel.getByText("1 of 3, paused").waitFor();
        await panel.getByRole("button", { name: "Continue" }).click();
        await answered(page, "Moved.");
        await panel.waitFor({ state: "hidden" });
        await page.locator("details.plan").getByText("completed", { exact: true }).first().waitFor();
      }),
  );

  pageTest("fits a phone, and is left by a button", () =>
    onPage(390, async (page) => {
      await write(page, "/plan Plan the move");
      const panel = page.locator(".plan-panel");
      await panel.getByText("0 of 3, waits for your go").waitFor();
      await answered(page, "Shall I begin?");
      await shoot(page, "plan-phone");
      assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"));
      await panel.getByRole("button", { name: "Leave the plan" }).click();
      await panel.waitFor({ state: "hidden" });
      await answered(page, "The plan is left.");
    }),
  );
});

async function write(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.getByLabel("Message", { exact: true }).press("Enter");
}

async function answered(page: Page, text: string): Promise<void> {
  await page.locator(".message.assistant .markdown").filter({ hasText: text }).last().waitFor();
  await page.locator(".working").waitFor({ state: "hidden" });
}

/** For people who want to look: `SHOTS=/some/folder`. */
async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env.SHOTS;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

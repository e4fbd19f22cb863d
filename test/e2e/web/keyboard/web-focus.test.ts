import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Locator, Page } from "playwright-core";
import { pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { backendOfBlock, browserOfBlock } from "../../../support/worlds/http/page-block.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

/** What has the focus, as people would name it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const at = document.activeElement;
    const label = at.labels?.[0]?.textContent ?? at.getAttribute("aria-label") ?? at.textContent;
    return at.tagName.toLowerCase() + " " + label.trim().slice(0, 40);
  })()`);

/** As somebody does who has no mouse. */
async function press(one: Locator, key = "Enter"): Promise<void> {
  await one.focus();
  await one.press(key);
}

describe("the keyboard's place in panes that are drawn again", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();
  const backend = backendOfBlock({ token: "page-token" });

  const inPane = (pane: string, walk: (page: Page) => Promise<void>): Promise<void> =>
    withPage(
      browser(),
      backend().url,
      async (page) => {
        await page.evaluate(`location.hash = '#/${pane}'`);
        await page.locator(".pane-page button").first().waitFor();
        await walk(page);
      },
      { token: "page-token", expected: /40\d/ },
    );

  const openers = [
    ["jobs", "New job"],
    ["skills", "New skill"],
    ["mcp", "Add a server"],
    ["models", "Add a model"],
    ["channels", "Set up"],
  ] as const;
  for (const [pane, opener] of openers)
    pageTest(`a form that is opened begins in its first field: ${pane}`, () =>
      inPane(pane, async (page) => {
        await press(page.getByRole("button", { name: opener }).first());
        await page.locator(".pane-root :is(input, select, textarea):focus").waitFor();
      }),
    );

  pageTest("what is done with a job leaves the focus at it, and beside it once it is gone", () =>
    inPane("jobs", async (page) => {
      const button = (name: string) => page.getByRole("button", { name, exact: true });
      await press(button("New job"));
      await page.getByLabel("Name").fill("Weather");
      await press(button("Save"));
      await page.getByText("Write what the assistant is told.").waitFor();
      assert.equal(await focused(page), "button Save", "a refusal moves nothing");
      await press(button("Cancel"));
      await press(page.getByRole("dialog").getByRole("button", { name: "Leave" }));
      await button("New job").waitFor();
      assert.equal(await focused(page), "button New job");
      for (const name of ["Weather", "News"]) {
        await press(button("New job"));
        await page.getByLabel("Name").fill(name);
        await page.getByLabel("What the assistant is told").fill("Tell me.");
        await press(button("Save"));
        await page.getByRole("region", { name }).waitFor();
        assert.notEqual(await focused(page), "body ");
      }
      const card = page.getByRole("region", { name: "Weather" });
      await press(card.getByRole("switch"), "Space");
      await card.getByText("Switched off").waitFor();
      assert.equal(await focused(page), "input On");
      await press(card.getByRole("button", { name: "Run now" }));
      await card.getByText(/Last run .+: done/).waitFor();
      assert.equal(await focused(page), "button Run now");
      await press(card.getByRole("button", { name: "Delete" }));
      await press(page.getByRole("dialog").getByRole("button", { name: "Delete" }));
      await card.waitFor({ state: "detached" });
      await page.locator(".pane-root :focus").waitFor();
      assert.match(await focused(page), /^(?:button|input) /);
    }),
  );

  pageTest("a button that works keeps the focus, whatever comes of it", () =>
    inPane("system", async (page) => {
      for (const name of ["Examine now", "Make a backup"]) {
        const button = page.getByRole("button", { name, exact: true });
        await press(button);
        await page.locator('[aria-disabled="true"]').waitFor({ state: "detached" });
        await page
          .getByRole("button", { name })
          .or(page.getByRole("button", { name: "Examine again" }))
          .first()
          .waitFor();
        assert.match(await focused(page), /^button (?:Examine|Make)/);
      }
    }),
  );

  pageTest("who goes elsewhere themselves is left there", () =>
    inPane("jobs", async (page) => {
      await press(page.getByRole("button", { name: "New job" }));
      await page.locator(".pane-root :focus").waitFor();
      await page.locator(".pane-about").click();
      assert.match(await focused(page), /^(?:body|div)/);
      await page.getByRole("button", { name: "Inbox" }).focus();
      await page.evaluate("location.hash = '#/skills'");
      await page.getByRole("button", { name: "New skill" }).waitFor();
      assert.match(await focused(page), /^button Inbox/);
    }),
  );
});

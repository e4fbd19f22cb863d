import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { until } from "../../../support/engine/engine-kit.js";
import { assertAccessible } from "../../../support/worlds/http/axe.js";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

describe("the jobs on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  const onPage = async (scenario: (page: Page, home: string) => Promise<void>): Promise<void> => {
    const backend = await startBackend({ answer: () => ({ text: "The sun is out." }) });
    try {
      await withPage(browser, `${backend.url}#/jobs`, (page) => scenario(page, backend.home), {
        context: { timezoneId: "Europe/Berlin" },
        // What the browser itself says about what the gateway refuses.
        expected: /400/,
      });
    } finally {
      await backend.stop();
    }
  };
  const list = async (page: Page): Promise<readonly Record<string, unknown>[]> => {
    const address = new URL("api/cron", page.url()).href;
    const answer = await page.request.get(address);
    return (await answer.json()).jobs;
  };

  pageTest("a job is made in words, changed as cron, run, looked at, switched off and deleted", () =>
    onPage(async (page) => {
      await page.getByText("Nothing is scheduled.").waitFor();
      await page.getByRole("button", { name: "New job" }).click();
      const form = page.getByRole("region", { name: "New job" });
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("Write what the assistant is told.").waitFor();
      await form.getByLabel("What the assistant is told").fill("How is the weather?");
      await form.getByLabel("Name").pressSequentially("L".repeat(90));
      assert.equal((await form.getByLabel("Name").inputValue()).length, 80, "as much as is kept");
      await form.getByLabel("Name").fill("Weather");
      await form.getByRole("checkbox", { name: "Mon" }).check();
      await form.getByRole("checkbox", { name: "Fri" }).check();
      await form.getByLabel("Time", { exact: true }).fill("07:30");
      await assertAccessible(page);
      await form.getByRole("button", { name: "Save" }).click();
      const card = page.getByRole("region", { name: "Weather" });
      await card.getByText("on Monday, Friday at 07:30 (in Europe/Berlin)").waitFor();
      await card
        .getByText(/^Next run|· Next run/)
        .or(card.getByText("Next run"))
        .first()
        .waitFor();
      await assertAccessible(page);

      await card.getByRole("button", { name: "Edit" }).click();
      const edit = page.getByRole("region", { name: "Edit the job" });
      await edit.getByText("As cron").click();
      assert.equal(await edit.getByLabel("Five fields").inputValue(), "30 7 * * 1,5");
      await edit.getByLabel("Five fields").fill("every day");
      await edit.getByRole("button", { name: "Save" }).click();
      await edit.getByRole("alert").waitFor();
      await edit.getByLabel("Five fields").fill("*/5 9 * * *");
      await edit.getByRole("button", { name: "Save" }).click();
      await card.getByText("by the fields */5 9 * * *").waitFor();

      await card.getByRole("button", { name: "Run now" }).click();
      await until("it has run", async () => (await list(page))[0]?.lastStatus === "success");
      await card.getByText(/Last run .+: done/).waitFor();
      await card.getByText("It runs now.").waitFor({ state: "detached" });
      await card.getByRole("button", { name: "History" }).click();
      await card.getByText("The sun is out.").waitFor();
      // "Last" is said of one run.
      assert.equal(await card.getByText(/Last run/).count(), 1);
      await card.getByRole("switch", { name: "On" }).click();
      await card.getByText("Switched off").waitFor();
      assert.equal((await list(page))[0]?.enabled, false);
      const colourOf = (name: string) =>
        card
          .getByRole("button", { name })
          .evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one).color);
      assert.notEqual(await colourOf("Delete"), await colourOf("Run now"), "it is red");
      await card.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("Nothing is scheduled.").waitFor();
      assert.deepEqual(await list(page), []);
    }),
  );

  pageTest("the heartbeat is switched on, and its list is a click away", () =>
    onPage(async (page, home) => {
      await page.getByLabel("Go through the list every 30 minutes").click();
      const isOn = async (): Promise<boolean> =>
        /"enabled": true/.test((await readFile(join(home, "config.json"), "utf8")).split('"heartbeat"')[1] ?? "");
      await until("it is in the file", isOn);
      await page.getByRole("button", { name: "Edit the list" }).click();
      await page.getByLabel("Text of memory/heartbeat.md").waitFor();
    }),
  );
});

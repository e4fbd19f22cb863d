import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

/** One red dot. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8Dwn4EIwDiqkL4KAcT9GO0U4BxoAAAAAElFTkSuQmCC",
  "base64",
);
const hostile = "<script>window.hacked = true</script>";

describe("files and sub-agents on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend({ token: "page-token" });
    writeFileSync(join(backend.home, "workspace", "dot.png"), png);
    writeFileSync(join(backend.home, "workspace", "report.html"), hostile);
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  // That the first look needs a token is told by the browser too.
  const onPage = (scenario: (page: Page) => Promise<void>): Promise<void> =>
    withPage(browser, backend.url, scenario, { token: "page-token", expected: /401/ });

  pageTest(
    "a picture is shown and every file can be saved, after a reload too; without the token nobody reads it",
    () =>
      onPage(async (page) => {
        await write(page, "show me");
        await answered(page, "That was all.");
        const look = async (): Promise<void> => {
          const picture = page.getByRole("img", { name: "dot.png" });
          await picture.waitFor();
          await page.waitForFunction("document.querySelector('.file-picture').naturalWidth === 1");
          await page.getByText("Here it is:").waitFor();
          assert.equal(await page.locator('.message.file[data-status="ready"]').count(), 2);
          assert.match(
            (await page.locator('.message.file[data-status="failed"]').textContent()) ?? "",
            /not a regular file/,
          );
        };
        await look();
        await page.reload();
        await look();
        const report = page.locator(".message.file").filter({ hasText: "report.html" });
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          report.getByRole("button", { name: "Save" }).click(),
        ]);
        assert.equal(download.suggestedFilename(), "report.html");
        assert.equal(readFileSync(await download.path(), "utf8"), hostile);
        assert.equal(await page.evaluate("window.hacked"), undefined);
        const addresses: string[] = [];
        page.on("request", (request) => {
          if (request.url().includes("/artifacts/")) addresses.push(request.url());
        });
        await page.reload();
        await look();
        assert.equal((await fetch(addresses[0] ?? "")).status, 401);
        const headers = { authorization: "Bearer page-token" };
        assert.equal((await fetch(addresses[0] ?? "", { headers })).status, 200);
      }),
  );

  pageTest("what a sub-agent asks is a card in its parent's chat, and its result is one line there", () =>
    onPage(async (page) => {
      await write(page, "have it asked");
      const card = page.locator(".question-card");
      await card.getByText("Sub-agent “planner”: Which train shall I book?").waitFor();
      await page.reload();
      await card.getByRole("button", { name: "08:32" }).click();
      await answered(page, "You said: Booked it.");
      await page.getByText(/^The sub-agent \w+ \(planner\) has finished/).waitFor();
      assert.equal(await card.count(), 0);
      assert.equal(await page.locator(".message.user").count(), 1, "it is not a message of the reader's");
      await page.getByText("Sub-task “planner”: completed").waitFor();
    }),
  );
});

async function write(page: Page, text: string): Promise<void> {
  const composer = page.getByLabel("Message", { exact: true });
  await composer.fill(text);
  await composer.press("Enter");
}

async function answered(page: Page, text: string): Promise<void> {
  await page.locator(".message.assistant .markdown").filter({ hasText: text }).last().waitFor();
}

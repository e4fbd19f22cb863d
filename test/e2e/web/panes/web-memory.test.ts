import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { until } from "../../../support/engine/engine-kit.js";
import { callThenDone } from "../../../support/worlds/channels/chat-world.js";
import { assertAccessible } from "../../../support/worlds/http/axe.js";
import { openChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

describe("the memory on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;

  before(async () => {
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
  });

  const onPage = async (scenario: (page: Page, file: string) => Promise<void>): Promise<void> => {
    const fact = "Ann drinks tea.";
    const backend = await startBackend({ answer: callThenDone("memory_write", { text: fact }) });
    const folder = join(backend.home, "workspace", "memory");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "MEMORY.md"), "# Facts\n\n- Ann lives in Kassel.\n");
    try {
      const scene = (page: Page): Promise<void> => scenario(page, join(folder, "MEMORY.md"));
      // What the browser itself says when a save is refused.
      await withPage(browser, backend.url, scene, { expected: /412/ });
    } finally {
      await backend.stop();
    }
  };

  pageTest("shows what was learned, when and where, and forgets it", () =>
    onPage(async (page, file) => {
      await page.getByLabel("Message", { exact: true }).fill("I drink tea");
      await page.keyboard.press("Enter");
      await page.locator(".message.assistant", { hasText: "done" }).waitFor();
      const { hash } = new URL(page.url());
      await page.goto(`${page.url().split("#")[0]}#/memory`);
      const learned = page.locator(".card", { hasText: "Ann drinks tea." });
      await learned.getByText(/^Learned .+ in a chat on this page$/).waitFor();
      await page.locator(".card", { hasText: "Ann lives in Kassel." }).getByText("Written into the file").waitFor();
      await assertAccessible(page);
      await learned.getByRole("button", { name: "Open that chat" }).click();
      await page.locator(".message.user", { hasText: "I drink tea" }).waitFor();
      assert.equal(new URL(page.url()).hash, hash);
      await page.goBack();
      await learned.getByRole("button", { name: "Forget" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
      await learned.waitFor({ state: "detached" });
      assert.equal(await readFile(file, "utf8"), "# Facts\n\n- Ann lives in Kassel.\n");
    }),
  );

  pageTest("edits a file, and overwrites nothing that came meanwhile", () =>
    onPage(async (page, file) => {
      await page.goto(`${page.url().split("#")[0]}#/memory`);
      await page.getByRole("button", { name: "Edit memory/MEMORY.md" }).click();
      const text = page.getByLabel("Text of memory/MEMORY.md");
      assert.match(await text.inputValue(), /Kassel/);
      await assertAccessible(page);
      await text.fill("- Ann lives in Bremen.\n");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved. The next message counts with it.").first().waitFor();
      assert.equal(await readFile(file, "utf8"), "- Ann lives in Bremen.\n");
      await writeFile(file, "- Ann lives in Ulm.\n");
      await text.fill("- Ann lives in Trier.\n");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText(/memory\/MEMORY\.md has changed meanwhile/).waitFor();
      assert.equal(await readFile(file, "utf8"), "- Ann lives in Ulm.\n");
      await page.getByRole("button", { name: "Read it again" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Read it again" }).click();
      await until("it is loaded", async () => /Ulm/.test(await text.inputValue()));
      await page.getByRole("button", { name: "Close memory/MEMORY.md" }).click();
      await page.getByText("Ann lives in Ulm.").waitFor();
    }),
  );
});

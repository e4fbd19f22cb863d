import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { makePdf } from "../../support/documents.js";
import { openChromium, pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../support/worlds/http/web-gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";
import { withoutChromium } from "../../support/worlds/needs.js";

const pdf = makePdf(["BT /F1 12 Tf 72 720 Td (The harvest was good.) Tj ET"]);

/** Reads the file that the newest message names, and says what it saw. */
function readAndTell(request: RecordedRequest): ScriptedAnswer {
  const newest = request.bodyText.slice(request.bodyText.lastIndexOf('"role":"user"'));
  if (newest.includes('"role":"tool"')) {
    const hasRead = newest.includes("The harvest was good.");
    return { text: hasRead ? "The harvest was good indeed." : "I saw nothing." };
  }
  const names = [...newest.matchAll(/<file name=\\"([^"\\]+)\\"[^>]*path=\\"([^"\\]+)\\"/g)];
  const [, name, path] = names[0] ?? [];
  if (name === "report.pdf" && names.length === 1)
    return { toolCalls: [{ id: "call_read", name: "read_file", input: { path } }] };
  return { text: `I got ${names.map((each) => each[1]).join(" and ") || "no file"}.` };
}

describe("files that the reader attaches on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    const config = { inbound: { maxFileMegabytes: 1 } };
    backend = await startBackend({ token: "page-token", answer: readAndTell, config });
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  // That the first look needs a token, and a file is too large, is told by the browser too.
  const onPage = (scenario: (page: Page) => Promise<void>): Promise<void> =>
    withPage(browser, backend.url, scenario, { token: "page-token", expected: /401|413/ });

  pageTest(
    "a PDF that is attached is read by the model's tool, and its name is at the message, after a reload too",
    () =>
      onPage(async (page) => {
        const composer = page.getByLabel("Message", { exact: true });
        const [chooser] = await Promise.all([
          page.waitForEvent("filechooser"),
          page.getByRole("button", { name: "Attach files" }).press("Enter"),
        ]);
        await chooser.setFiles([
          { name: "report.pdf", mimeType: "application/pdf", buffer: pdf },
          { name: "wrong.txt", mimeType: "text/plain", buffer: Buffer.from("wrong") },
          { name: "huge.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(2 * 1024 * 1024) },
        ]);
        const chosen = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
        await chosen.filter({ hasText: "huge.bin is larger than the 1 MB that are taken" }).waitFor();
        await page.getByRole("button", { name: "Remove wrong.txt" }).press("Enter");
        assert.equal(await composer.evaluate((area) => area === area.ownerDocument.activeElement), true);
        await page.getByRole("button", { name: "Remove huge.bin" }).click();
        assert.equal(await chosen.count(), 1);
        await composer.fill("What does it say?");
        await page.locator('button[aria-label="Send"]:not([disabled])').waitFor();
        await composer.press("Enter");
        await said(page, "The harvest was good indeed.");
        assert.equal(await chosen.count(), 0);
        const mine = page.locator(".message.user");
        assert.match((await mine.textContent()) ?? "", /What does it say\?report\.pdf/);
        await page.reload();
        await mine.getByRole("listitem").filter({ hasText: "report.pdf" }).waitFor();
        const names = readdirSync(join(backend.home, "workspace", ".uploads"));
        assert.deepEqual(
          names.filter((name) => /huge|\.part$/.test(name)),
          [],
          "nothing half is left",
        );
      }),
  );

  pageTest("a picture that is pasted and a file that is dropped go along without a word, each with its own chat", () =>
    onPage(async (page) => {
      const composer = page.getByLabel("Message", { exact: true });
      await composer.waitFor();
      const chosen = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
      await hand(page, "paste", "image.png");
      await chosen.filter({ hasText: "image.png" }).waitFor();
      const first = page.url();
      await page.getByRole("button", { name: "New chat" }).click();
      await page.waitForURL((url) => url.href !== first);
      assert.equal(await chosen.count(), 0, "it waits in the chat where it was attached");
      await page.goBack();
      await chosen.filter({ hasText: "image.png" }).waitFor();
      await hand(page, "drop", "notes.txt");
      await chosen.filter({ hasText: "notes.txt" }).waitFor();
      await page.locator('button[aria-label="Send"]:not([disabled])').click();
      await said(page, "I got image.png and notes.txt.");
      assert.equal(await page.locator(".message.user .bubble").isVisible(), false, "there is no empty bubble");
    }),
  );
});

/** What the browser makes of a paste into the field, or of a drop beside it. */
async function hand(page: Page, kind: "paste" | "drop", name: string): Promise<void> {
  const type = name.endsWith("png") ? "image/png" : "text/plain";
  await page.evaluate(`{
    const data = new DataTransfer();
    data.items.add(new File(["x"], "${name}", { type: "${type}" }));
    const event =
      "${kind}" === "paste"
        ? new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data })
        : new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data });
    document.querySelector("${kind}" === "paste" ? "#message" : "h1").dispatchEvent(event);
  }`);
}

async function said(page: Page, text: string): Promise<void> {
  await page.locator(".message.assistant .markdown").filter({ hasText: text }).last().waitFor();
}

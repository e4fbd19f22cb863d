import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { makePdf } from "../../../support/documents.js";
import { until } from "../../../support/engine/engine-kit.js";
import { openWholeChromium, pageTest, withPage } from "../../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

/** One red dot. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8Dwn4EIwDiqkL4KAcT9GO0U4BxoAAAAAElFTkSuQmCC",
  "base64",
);
const pdf = makePdf(["BT /F1 12 Tf 72 720 Td (The harvest was good.) Tj ET"]);
const evil = Buffer.from("<script>window.opener ? opener.hacked = 1 : 0; window.hacked = 1</script>");

describe("files that people have sent, on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openWholeChromium();
    backend = await startBackend({ token: "page-token", answer: () => ({ text: "Thank you, friend." }) });
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  const onPage = (scenario: (page: Page) => Promise<void>): Promise<void> =>
    withPage(browser, backend.url, scenario, { token: "page-token", expected: /401/ });

  pageTest("a picture that was sent has a thumbnail, sound a player, and a PDF opens beside, after a reload too", () =>
    onPage(async (page) => {
      await attach(page, [
        { name: "dot.png", mimeType: "image/png", buffer: png },
        { name: "voice.wav", mimeType: "audio/wav", buffer: silence() },
        { name: "report.pdf", mimeType: "application/pdf", buffer: pdf },
        { name: "page.html", mimeType: "text/html", buffer: evil },
      ]);
      const mine = page.locator(".message.user:not(.pending)");
      for (const isReloaded of [false, true]) {
        if (isReloaded) await page.reload();
        const picture = mine.getByRole("img", { name: "dot.png" });
        await picture.waitFor();
        assert.equal(await page.evaluate(widthOfPicture), 1);
        const { width = 0, height = 0 } = (await picture.boundingBox()) ?? {};
        assert.deepEqual([width, height], [120, 120], "its room was there before it");
        assert.equal(await mine.locator("audio").count(), 0, "nothing is read before somebody asks");
        await mine.getByRole("button", { name: "Listen to voice.wav" }).click();
        await mine.locator("audio").waitFor();
        assert.equal(await page.evaluate(lengthOfSound), 0.5);
        assert.equal(
          await mine.locator(".files").getByRole("button").filter({ visible: true }).count(),
          1,
          "the PDF only",
        );
      }
      const [opened] = await Promise.all([
        page.waitForEvent("popup"),
        mine.getByRole("button", { name: "Open report.pdf in a new tab" }).click(),
      ]);
      assert.equal(await opened.evaluate("window.opener"), null);
      await until("its first page is shown", async () => (await pagesInViewer(opened)).includes(1));
    }),
  );

  pageTest("a picture that is none says so in its place", () =>
    onPage(async (page) => {
      await attach(page, [{ name: "broken.png", mimeType: "image/png", buffer: png.subarray(0, 1) }]);
      const mine = page.locator(".message.user:not(.pending)", { hasText: "broken.png" });
      await mine.getByText("It cannot be shown: it is not a whole picture.").waitFor();
      assert.equal(await mine.getByRole("img", { name: "broken.png" }).isVisible(), false);
    }),
  );

  pageTest("a file that calls itself a PDF or a picture is opened as that only, and nothing of it runs", () =>
    onPage(async (page) => {
      await attach(page, [
        { name: "evil.pdf", mimeType: "application/pdf", buffer: evil },
        { name: "evil.png", mimeType: "image/png", buffer: evil },
        { name: "evil.svg", mimeType: "image/svg+xml", buffer: Buffer.from("<svg onload='window.hacked = 1'/>") },
      ]);
      const mine = page.locator(".message.user:not(.pending)");
      const [opened] = await Promise.all([
        page.waitForEvent("popup"),
        mine.getByRole("button", { name: "Open evil.pdf in a new tab" }).click(),
      ]);
      assert.equal(await opened.evaluate("window.hacked"), undefined);
      assert.equal(await page.evaluate("window.hacked"), undefined);
      await mine.getByText("It cannot be shown: it is not a whole picture.").waitFor();
      assert.equal(await mine.locator(".file-picture").filter({ visible: true }).count(), 0, "an SVG is not shown");
    }),
  );
});

/** How many pages the browser's viewer has read, asked in each of its frames. */
async function pagesInViewer(opened: Page): Promise<readonly unknown[]> {
  const ask = "document.querySelector('pdf-viewer')?.shadowRoot?.querySelector('viewer-toolbar')?.docLength";
  return await Promise.all(opened.frames().map((frame) => frame.evaluate(ask).catch(() => undefined)));
}

const widthOfPicture = `(async (picture) => {
  await picture.decode();
  return picture.naturalWidth;
})(document.querySelector(".message.user .file-picture"))`;

const lengthOfSound = `((sound) => new Promise((resolve, reject) => {
  if (sound.readyState > 0) resolve(sound.duration);
  sound.onloadedmetadata = () => resolve(sound.duration);
  sound.onerror = () => reject(sound.error);
}))(document.querySelector(".message.user audio"))`;

interface SentFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

async function attach(page: Page, files: SentFile[]): Promise<void> {
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("button", { name: "Attach files" }).click(),
  ]);
  await chooser.setFiles(files);
  const composer = page.getByLabel("Message", { exact: true });
  await composer.fill("look at these");
  await page.locator('button[aria-label="Send"]:not([disabled])').waitFor();
  await composer.press("Enter");
  await page.locator(".message.assistant .markdown").filter({ hasText: "friend" }).waitFor();
}

/** Half a second of a WAV. */
function silence(): Buffer {
  const samples = Buffer.alloc(4000, 128);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../../../support/engine/engine-kit.js";
import { projectFile } from "../../../support/project.js";
import { openChromium, pageTest, withWorker } from "../../../support/worlds/http/chromium.js";
import { openTestServer } from "../../../support/worlds/http/http-server.js";
import { startNginx } from "../../../support/worlds/http/nginx.js";
import { browserOfBlock } from "../../../support/worlds/http/page-block.js";
import { startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium, withoutNginx } from "../../../support/worlds/needs.js";

/** Every address that the worker has kept something of. */
const keptAddresses = `caches.keys()
  .then((names) => Promise.all(names.map((name) => caches.open(name).then((cache) => cache.keys()))))
  .then((lists) => lists.flat().map(({ url }) => new URL(url).pathname).sort())`;

const ready = "navigator.serviceWorker.ready.then(({ active }) => active !== null)";
const token = "page-token-of-twenty-characters";
const lost = /ERR_CONNECTION_REFUSED|WebSocket connection|Failed to load resource|Failed to fetch/;

describe("the page as an installed one", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock([], ["--ignore-certificate-errors"]);

  pageTest(
    "opens without the gateway after an earlier visit, and its worker has kept the page's files alone",
    async () => {
      const backend = await startBackend();
      let isUp = true;
      try {
        await withWorker(
          browser(),
          backend.url,
          async (page) => {
            await send(page, "greet me");
            await page.evaluate(ready);
            const paths = Object(await page.evaluate(keptAddresses)) as string[];
            assert.ok(paths.includes("/") && paths.includes("/manifest.webmanifest"), paths.join(" "));
            assert.ok(paths.some((path) => /^\/assets\/index-[\w-]+\.js$/.test(path)));
            for (const path of paths)
              assert.match(path, /^\/(assets\/.*|icons\/.*|favicon\.svg|manifest\.webmanifest)?$/);
            await backend.stop();
            isUp = false;
            await page.reload();
            await page.getByLabel("Message", { exact: true }).waitFor();
            await page.getByText(/^Offline\./).waitFor();
            // The code of the pages was kept, too: only what the gateway knows is missing.
            await page.evaluate("location.hash = '#/jobs'");
            await page.getByRole("button", { name: "New job" }).waitFor();
          },
          { expected: lost },
        );
      } finally {
        if (isUp) await backend.stop();
      }
    },
  );

  pageTest("a new version of the page is there with the next visit, and an open page says so", async () => {
    const webRoot = await mkdtemp(join(tmpdir(), "maxclaw-page-"));
    await cp(projectFile("dist/web"), webRoot, { recursive: true });
    await using served = await openTestServer({ webRoot });
    const context = await browser().newContext();
    try {
      const page = await context.newPage();
      await page.goto(served.url);
      await page.evaluate(ready);
      await page.reload();
      await page.getByLabel("Message", { exact: true }).waitFor();
      const before = String(await page.evaluate("caches.keys().then(String)"));
      const version = before.split(" ").at(-1) ?? "";
      await rewrite(join(webRoot, "worker.js"), version, "0123456789ab");
      await rewrite(
        join(webRoot, "index.html"),
        "<title>maxclaw</title>",
        '<title>maxclaw</title><meta name="new" content="1" />',
      );
      await page.reload();
      assert.equal(await page.locator('meta[name="new"]').count(), 1, "an old page is not served");
      await page.getByText("There is a new version of this page.").waitFor();
      assert.match(String(await page.evaluate("caches.keys().then(String)")), / 0123456789ab$/, "the old one is gone");
      await page.getByRole("button", { name: "Reload" }).click();
      await page.getByLabel("Message", { exact: true }).waitFor();
      assert.equal(await page.getByText("There is a new version of this page.").isVisible(), false);
    } finally {
      await context.close();
      await rm(webRoot, { recursive: true, force: true });
    }
  });

  pageTest("the browser offers to install it, and the page only where the browser does", async () => {
    const backend = await startBackend();
    try {
      await withWorker(browser(), backend.url, async (page) => {
        const install = page.getByRole("button", { name: "Install" });
        await page.getByLabel("Message", { exact: true }).waitFor();
        const devtools = await page.context().newCDPSession(page);
        const { errors, url } = await devtools.send("Page.getAppManifest");
        assert.deepEqual([errors, url], [[], `${backend.url}manifest.webmanifest`]);
        const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
        assert.deepEqual(
          installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito"),
          [],
        );
        assert.equal(await install.isVisible(), false);
        await page.evaluate(`window.asked = 0;
          const offer = new Event("beforeinstallprompt", { cancelable: true });
          offer.prompt = async () => { window.asked += 1; };
          window.dispatchEvent(offer);`);
        await install.click();
        assert.equal(await page.evaluate("window.asked"), 1);
        assert.equal(await install.isVisible(), false);
      });
    } finally {
      await backend.stop();
    }
  });

  pageTest("signing out takes the worker and all that it has kept", async () => {
    const backend = await startBackend({ token });
    try {
      await withWorker(
        browser(),
        backend.url,
        async (page) => {
          await page.evaluate(ready);
          await page.getByRole("button", { name: "Sign out", exact: true }).click();
          await page.getByRole("textbox", { name: "Token" }).waitFor();
          const left =
            "Promise.all([caches.keys(), navigator.serviceWorker.getRegistrations()]).then((all) => all.flat().length)";
          await until("nothing is left", async () => (await page.evaluate(left)) === 0, 15_000);
        },
        { token, expected: /401/ },
      );
    } finally {
      await backend.stop();
    }
  });
});

describe("the installed page behind a proxy", { timeout: 120_000, skip: withoutChromium() || withoutNginx() }, () => {
  for (const how of ["whole", "stripped"] as const)
    pageTest(`its worker has no more than the path that the proxy passes on ${how}`, async () => {
      await using browser = await openChromium(["chat.example"], ["--ignore-certificate-errors"]);
      const gateway = { token, basePath: "/assistant", trustedProxies: ["127.0.0.1"] };
      const backend = await startBackend({ token, config: { gateway } });
      await using nginx = await startNginx(new URL(backend.url).origin, "/assistant", "chat.example");
      try {
        await withWorker(
          browser,
          nginx[how],
          async (page) => {
            assert.equal(
              await page.evaluate(`${ready} && navigator.serviceWorker.ready.then(({ scope }) => scope)`),
              nginx[how],
            );
            const paths = Object(await page.evaluate(keptAddresses)) as string[];
            for (const path of paths) assert.match(path, /^\/assistant\//);
            await backend.stop();
            await page.reload();
            await page.getByText(/^Offline\./).waitFor();
          },
          { token, expected: /401|502|504|WebSocket|Failed to load/, context: { ignoreHTTPSErrors: true } },
        );
      } finally {
        await backend.stop();
      }
    });
});

async function send(page: Page, text: string): Promise<void> {
  const field = page.getByLabel("Message", { exact: true });
  await field.fill(text);
  await field.press("Enter");
  await page.locator(".message.assistant .markdown").first().waitFor();
}

async function rewrite(path: string, from: string, to: string): Promise<void> {
  const text = await readFile(path, "utf8");
  assert.ok(text.includes(from), `${path} has ${from}`);
  await writeFile(path, text.replace(from, to));
}

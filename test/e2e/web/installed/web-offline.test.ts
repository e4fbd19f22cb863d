import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Page, WebSocketRoute } from "playwright-core";
import { isTooMuch } from "../../../../src/web/offline/seen-limits.js";
import { until } from "../../../support/engine/engine-kit.js";
import { assertAccessible } from "../../../support/worlds/http/axe.js";
import { pageTest, withWorker } from "../../../support/worlds/http/chromium.js";
import { browserOfBlock } from "../../../support/worlds/http/page-block.js";
import { startBackend } from "../../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const token = "page-token-of-twenty-characters";
const lost =
  /401|ERR_CONNECTION_REFUSED|WebSocket connection|Failed to load resource|Failed to fetch|fetching the script/;

/** All that the browser has kept of what was seen. */
const kept = `new Promise((resolve) => {
  const opening = indexedDB.open("maxclaw seen /");
  opening.onsuccess = () => {
    const stores = [...opening.result.objectStoreNames];
    const reading = stores.map((name) => new Promise((done) => {
      const all = opening.result.transaction(name).objectStore(name).getAll();
      all.onsuccess = () => done(all.result);
    }));
    resolve(Promise.all(reading).then((all) => {
      opening.result.close();
      return JSON.stringify(all);
    }));
  };
})`;

describe("what was seen of the page", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();

  pageTest("the page is kept once the gateway is back, where it went away while that began", async () => {
    const backend = await startBackend();
    try {
      let isAway = true;
      let refused = 0;
      const sockets: WebSocketRoute[] = [];
      await withWorker(
        browser(),
        backend.url,
        async (page) => {
          const registered = (): Promise<boolean> =>
            page.evaluate("navigator.serviceWorker.getRegistration().then((one) => one?.active != null)");
          await until(
            "it could not be kept",
            async () =>
              refused > 0 &&
              (await page.evaluate<boolean>(
                "navigator.serviceWorker.getRegistration().then((one) => one === undefined)",
              )),
          );
          isAway = false;
          await Promise.all(sockets.map((socket) => socket.close()));
          await until("it is kept", registered);
          assert.ok(sockets.length > 1, "over another connection");
        },
        {
          expected: lost,
          onPage: async (page) => {
            await page.routeWebSocket(/\/ws/, (socket) => {
              sockets.push(socket);
              socket.connectToServer();
            });
            await page.context().route("**/*", (route) => {
              if (!isAway || route.request().serviceWorker() === null) return route.continue();
              refused += 1;
              return route.abort();
            });
          },
        },
      );
    } finally {
      await backend.stop();
    }
  });

  for (const [device, context] of Object.entries({
    "a desk": { colorScheme: "light" as const },
    "a phone": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: "dark" as const },
  }))
    pageTest(`is read while the gateway is away, with when it was last updated, at ${device}`, async () => {
      const backend = await startBackend({ token, history: { "webui:0000beef": 3 } });
      let isUp = true;
      try {
        await withWorker(
          browser(),
          backend.url,
          async (page) => {
            await page.evaluate("navigator.serviceWorker.ready.then(() => true)");
            await send(page, "greet me");
            await keeps(page, "friend");
            await openChat(page, "Question 1");
            await page.getByText("Answer 3").waitFor();
            await keeps(page, "Answer **3**");
            await backend.stop();
            isUp = false;

            await page.reload();
            await page.getByText("Answer 3").waitFor();
            await page.getByText(/^This was last updated at \d/).waitFor();
            await assertAccessible(page);
            await openChat(page, "greet me");
            await page.locator(".message.assistant .markdown").filter({ hasText: "friend" }).waitFor();
            // What is written meanwhile waits, as ever.
            await page.getByLabel("Message", { exact: true }).fill("later");
          },
          { token, expected: lost, context },
        );
      } finally {
        if (isUp) await backend.stop();
      }
    });

  pageTest("goes when this device is signed out, here or elsewhere", async () => {
    const backend = await startBackend({ token });
    try {
      for (const how of ["here", "elsewhere"])
        await withWorker(
          browser(),
          backend.url,
          async (page) => {
            await send(page, "greet me");
            await keeps(page, "friend");
            if (how === "here") await page.getByRole("button", { name: "Sign out", exact: true }).click();
            else await signOutAll(backend.url);
            await page.getByRole("textbox", { name: "Token" }).waitFor();
            await until("nothing is left", async () => (await page.evaluate(kept)) === "[[],[]]", 15_000);
          },
          { token, expected: lost },
        );
    } finally {
      await backend.stop();
    }
  });

  pageTest("has a limit in number and size", async () => {
    assert.deepEqual([isTooMuch(30, 5_000_000), isTooMuch(31, 1), isTooMuch(1, 5_000_001)], [false, true, true]);
  });
});

async function send(page: Page, text: string): Promise<void> {
  const field = page.getByLabel("Message", { exact: true });
  await field.fill(text);
  await field.press("Enter");
  await page.locator(".message.assistant .markdown").filter({ hasText: "friend" }).waitFor();
}

async function keeps(page: Page, text: string): Promise<void> {
  await until(`${text} is kept`, async () => String(await page.evaluate(kept)).includes(text), 15_000);
}

async function openChat(page: Page, title: string): Promise<void> {
  const menu = page.getByRole("button", { name: /^Menu/ });
  if (await menu.isVisible()) await menu.click();
  await page.locator(".session-open", { hasText: title }).click();
}

async function signOutAll(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const { devices } = (await (await fetch(new URL("api/devices", url), { headers })).json()) as {
    devices: readonly { readonly id: string }[];
  };
  for (const { id } of devices) await fetch(new URL(`api/devices/${id}`, url), { method: "DELETE", headers });
}

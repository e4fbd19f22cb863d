import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Page, WebSocketRoute } from "playwright-core";
import { until } from "../../support/engine/engine-kit.js";
import { pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { browserOfBlock } from "../../support/worlds/http/page-block.js";
import { type Backend, startBackend } from "../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../support/worlds/needs.js";

const [open, other] = ["webui:0000beef", "webui:0000cafe"];

describe("a chat that is deleted elsewhere", { timeout: 120_000, skip: withoutChromium() }, () => {
  const browser = browserOfBlock();

  const onPage = async (scenario: (page: Page, backend: Backend) => Promise<void>): Promise<void> => {
    const backend = await startBackend({
      history: { [open]: 3, [other]: 2 },
      answer: ({ userText }) => ({ text: `You said: ${userText.split("\n\n").at(-1)}` }),
    });
    try {
      await withPage(browser(), `${backend.url}#${open}`, (page) => scenario(page, backend), {
        expected: /ERR_INTERNET_DISCONNECTED|WebSocket/,
      });
    } finally {
      await backend.stop();
    }
  };

  pageTest("goes from the page that shows it and from its browser; the draft stays and begins it anew", () =>
    onPage(async (page, backend) => {
      await page.getByText("Answer 3").waitFor();
      await keeps(page, [open]);
      await page.getByLabel("Message", { exact: true }).fill("still here");
      await remove(backend, open);
      await page.getByText("This conversation was deleted.").waitFor();
      assert.equal(await page.getByText("Answer 3").count(), 0);
      await keeps(page, []);
      await sendsAnew(page);
    }),
  );

  pageTest("is shown again, and read, once somebody begins it anew elsewhere", () =>
    onPage(async (page, backend) => {
      await page.getByText("Answer 3").waitFor();
      await remove(backend, open);
      await page.getByText("This conversation was deleted.").waitFor();
      const written = { sessionKey: open, content: "from elsewhere" };
      assert.equal((await page.request.post(`${backend.url}api/message`, { data: written })).ok(), true);
      await page.locator(".message.assistant", { hasText: "You said: from elsewhere" }).waitFor();
      assert.equal(await page.locator(".message").count(), 2);
      assert.equal(await page.getByText("This conversation was deleted.").count(), 0);
      const unread = async (): Promise<unknown> => {
        const { sessions } = await (await page.request.get(`${backend.url}api/sessions`)).json();
        return sessions.find(({ key }: { readonly key: string }) => key === open)?.unread;
      };
      await until("it is read", async () => (await unread()) === 0, 15_000);
    }),
  );

  pageTest("goes once the page is back, where it was away meanwhile, and so does what it has seen before", () =>
    onPage(async (page, backend) => {
      const sockets: WebSocketRoute[] = [];
      let isAway = false;
      await page.routeWebSocket(/\/ws$/, (socket) => {
        if (isAway) return void socket.close();
        sockets.push(socket);
        socket.connectToServer();
      });
      await page.reload();
      await page.locator(".session-open").last().waitFor();
      for (const [key, last] of [
        [other, "Answer 2"],
        [open, "Answer 3"],
      ]) {
        await page.evaluate(`location.hash = "#${key}"`);
        await page.getByText(String(last)).waitFor();
        await until(`${key} is kept`, async () => (await keptKeys(page)).includes(String(key)), 15_000);
      }
      isAway = true;
      for (const socket of sockets) await socket.close();
      await page.getByText(/^Offline/).waitFor();
      await page.getByLabel("Message", { exact: true }).fill("still here");
      for (const key of [open, other]) await remove(backend, key);
      isAway = false;
      await page.getByText("This conversation was deleted.").waitFor();
      await keeps(page, []);
      await sendsAnew(page);
    }),
  );
});

async function sendsAnew(page: Page): Promise<void> {
  await page.getByLabel("Message", { exact: true }).press("Enter");
  for (const again of [false, true]) {
    if (again) await page.reload();
    await page.locator(".message.assistant", { hasText: "You said: still here" }).waitFor();
    assert.equal(await page.locator(".message").count(), 2);
    assert.equal(await page.getByText("This conversation was deleted.").count(), 0);
  }
}

async function remove(backend: Backend, key: string): Promise<void> {
  const response = await fetch(`${backend.url}api/sessions/${encodeURIComponent(key)}`, { method: "DELETE" });
  assert.equal(response.ok, true, await response.text());
}

async function keeps(page: Page, keys: readonly string[]): Promise<void> {
  await until(`${keys} is kept`, async () => (await keptKeys(page)).join() === keys.join(), 15_000);
}

/** Of the chats that the browser has kept. To open a database that is not there yet would make it. */
async function keptKeys(page: Page): Promise<readonly string[]> {
  const name = "maxclaw seen /";
  if (
    !(await page.evaluate<boolean>(`indexedDB.databases().then((all) => all.some(({ name }) => name === "${name}"))`))
  )
    return [];
  return await page.evaluate<readonly string[]>(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("${name}");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const all = opening.result.transaction("chats").objectStore("chats").getAllKeys();
      all.onsuccess = () => {
        opening.result.close();
        resolve(all.result);
      };
    };
  })`);
}

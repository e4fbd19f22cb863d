import assert from "node:assert/strict";
import { after, describe } from "node:test";
import type { BrowserContext, Page, Route, WebSocketRoute } from "playwright-core";
import { gate, until } from "../../support/engine/engine-kit.js";
import { pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { backendOfBlock, browserOfBlock } from "../../support/worlds/http/page-block.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";
import { withoutChromium } from "../../support/worlds/needs.js";

const silence = gate();
const asked: string[] = [];

function answer({ userText }: RecordedRequest): ScriptedAnswer {
  asked.push(userText);
  if (userText.endsWith("be silent"))
    return { text: ["At ", "last."], pause: { before: "last.", until: silence.opened } };
  return { text: `You said: ${userText.split("\n\n").at(-1)}` };
}

describe("what is not sent yet on the web page", { timeout: 120_000, skip: withoutChromium() }, () => {
  after(() => silence.open());
  const browser = browserOfBlock();
  const backend = backendOfBlock({ answer });

  // What the browser itself says while the gateway is away.
  const onPage = (scenario: (page: Page) => Promise<void>): Promise<void> =>
    withPage(browser(), backend().url, scenario, { expected: /ERR_INTERNET_DISCONNECTED|ERR_FAILED|WebSocket/ });

  pageTest("a message with a file outlives a crash of the tab while the gateway is away, and is sent once", () =>
    onPage(async (page) => {
      const context = page.context();
      const before = asked.length;
      await context.setOffline(true);
      await page.getByText(/^Offline/).waitFor();
      await attach(page, "note.txt");
      await page.getByText("Waits for the gateway").waitFor();
      await write(page, "what is in it?");
      await page.getByText("Kept here until the gateway is back").waitFor();
      const { hash } = new URL(page.url());
      await kept(page, 1);
      await page.close();

      const second = await open(context, backend().url);
      // Another chat is open now: it goes all the same.
      await second.locator(".session", { hasText: "what is in it?" }).click();
      assert.equal(new URL(second.url()).hash, hash);
      await second.locator(".message.assistant", { hasText: "You said:" }).waitFor();
      assert.equal(await second.locator(".message.user").count(), 1);
      assert.equal(await second.locator(".message.user").getByText("note.txt").count(), 1);
      assert.equal(asked.length, before + 1);
      await kept(second, 0);
    }),
  );

  pageTest(
    "a message that is too large for the gateway is refused by itself, and what comes after it is answered",
    () =>
      onPage(async (page) => {
        // In letters that take more bytes than they are characters.
        await page.getByLabel("Message", { exact: true }).fill("長".repeat(900_000));
        await page.keyboard.press("Enter");
        await page.getByText(/^Not sent: It is larger than what the gateway takes at once/).waitFor();
        await page.getByRole("button", { name: "Discard" }).click();
        await write(page, "and this?");
        await page.locator(".message.assistant", { hasText: "You said: and this?" }).waitFor();
      }),
  );

  pageTest("a file that a gateway does not take because it is stopping goes along once it is back", () =>
    withPage(
      browser(),
      backend().url,
      async (page) => {
        const sockets: WebSocketRoute[] = [];
        let isStopping = true;
        await page.routeWebSocket(/\/ws$/, (socket) => {
          sockets.push(socket);
          socket.connectToServer();
        });
        await page.route("**/api/upload", (route) =>
          isStopping
            ? route.fulfill({ status: 503, json: { error: "The gateway is stopping.", code: "closed" } })
            : route.continue(),
        );
        await page.reload();
        await attach(page, "note.txt");
        await page.getByText("Waits for the gateway").waitFor();
        await write(page, "what is in this?");
        await page.locator(".pending", { hasText: "what is in this?" }).waitFor();
        isStopping = false;
        for (const socket of sockets) await socket.close();
        await page.locator(".message.assistant", { hasText: "You said:" }).waitFor();
        assert.equal(await page.locator(".message.user").getByText("note.txt").count(), 1);
      },
      { expected: /503|WebSocket/ },
    ),
  );

  pageTest("is sent once when the answer of the gateway is lost, and the tab with it", () =>
    onPage(async (page) => {
      const before = asked.length;
      let isAway = false;
      let cut = (): void => undefined;
      await page.routeWebSocket(/\/ws/, (socket) => {
        const server = socket.connectToServer();
        // Everything reaches the gateway, nothing comes back after the message.
        let isMute = false;
        cut = () => void socket.close();
        if (isAway) return cut();
        socket.onMessage((frame) => {
          if (String(frame).includes("message_send")) isMute = true;
          server.send(frame);
        });
        server.onMessage((frame) => {
          if (!isMute) socket.send(frame);
        });
      });
      await page.reload();
      await write(page, "only once");
      await page.locator(".pending", { hasText: "only once" }).waitFor();
      await until("the model is asked", () => asked.length === before + 1);
      await kept(page, 1);
      const pending = page.locator(".pending", { hasText: "only once" });
      await pending.getByText("Sending …").waitFor();
      isAway = true;
      cut();
      await pending.getByText("Kept here until the gateway is back").waitFor();
      const second = await open(page.context(), page.url());
      await page.close();
      await second.locator(".message.assistant", { hasText: "You said: only once" }).waitFor();
      await kept(second, 0);
      assert.equal(await second.locator(".message.user").count(), 1);
      assert.equal(asked.length, before + 1);
    }),
  );

  pageTest("a draft and its file outlive a reload, and are gone in every tab once they are sent", () =>
    onPage(async (page) => {
      await page.getByLabel("Message", { exact: true }).fill("half a thought");
      await attach(page, "note.txt");
      await page.getByRole("list", { name: "Attached files" }).getByText("note.txt").waitFor();
      await drafted(page, "half a thought", 1);
      await page.reload();
      const field = page.getByLabel("Message", { exact: true });
      await page.getByRole("list", { name: "Attached files" }).getByText("note.txt").waitFor();
      assert.equal(await field.inputValue(), "half a thought");
      const other = await open(page.context(), page.url());
      const otherField = other.getByLabel("Message", { exact: true });
      await until("the draft is there too", async () => (await otherField.inputValue()) === "half a thought");
      await field.press("Enter");
      await page.locator(".message.assistant", { hasText: "You said:" }).waitFor();
      await until("it is gone there", async () => (await otherField.inputValue()) === "");
      await page.reload();
      await page.locator(".message.assistant").waitFor();
      assert.equal(await field.inputValue(), "");
      await other.close();
    }),
  );

  pageTest("what is written before the page knows its chat joins what a reload has left there", () =>
    onPage(async (page) => {
      const field = page.getByLabel("Message", { exact: true });
      await field.fill("left behind");
      await drafted(page, "left behind", 0);
      const url = page.url();
      await page.goto("about:blank");
      const writeEarly = async (route: Route): Promise<void> => {
        await field.fill("written early");
        await route.continue();
      };
      await page.route("**/api/status", writeEarly, { times: 1 });
      await page.goto(url);
      await drafted(page, "left behind\nwritten early", 0);
      assert.equal(await field.inputValue(), "left behind\nwritten early");
    }),
  );

  pageTest("after five seconds of silence a clock says what the answer waits for", () =>
    onPage(async (page) => {
      await page.clock.install();
      await page.reload();
      await write(page, "be silent");
      await page.locator(".message.assistant", { hasText: "At" }).waitFor();
      await page.clock.fastForward(6000);
      await page.getByText(/^The model has said nothing for \d+ s, since /).waitFor();
      silence.open();
      await page.locator(".message.assistant", { hasText: "At last." }).waitFor();
    }),
  );
});

async function open(context: BrowserContext, url: string): Promise<Page> {
  await context.setOffline(false);
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

async function write(page: Page, text: string): Promise<void> {
  const field = page.getByLabel("Message", { exact: true });
  await field.fill(text);
  await field.press("Enter");
}

async function attach(page: Page, name: string): Promise<void> {
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("button", { name: "Attach files" }).click(),
  ]);
  await chooser.setFiles([{ name, mimeType: "text/plain", buffer: Buffer.from("Buy milk.") }]);
}

/** So many messages are in the browser's own database. */
async function kept(page: Page, count: number): Promise<void> {
  await until(`${count} messages are kept`, async () => (await stored(page, "messages")).length === count);
}

async function drafted(page: Page, text: string, files: number): Promise<void> {
  await until("the draft is kept", async () => {
    const drafts = await stored(page, "drafts");
    return drafts.some((draft) => draft.text === text && draft.files.length === files);
  });
}

interface Stored {
  readonly text: string;
  readonly files: readonly unknown[];
}

function stored(page: Page, name: "messages" | "drafts"): Promise<readonly Stored[]> {
  return page.evaluate<readonly Stored[]>(
    `new Promise((resolve, reject) => {
      const opening = indexedDB.open("maxclaw /");
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const database = opening.result;
        const all = database.transaction("${name}").objectStore("${name}").getAll();
        all.onsuccess = () => { database.close(); resolve(all.result); };
      };
    })`,
  );
}

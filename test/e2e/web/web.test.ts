import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, BrowserContextOptions, Page, WebSocketRoute } from "playwright-core";
import { gate, until } from "../../support/engine/engine-kit.js";
import { openChromium, pageTest, withPage } from "../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../support/worlds/needs.js";

const history = 2000;

describe("the web page", { timeout: 120_000, concurrency: 4, skip: withoutChromium() }, () => {
  let browser: Browser;
  let backend: Backend;

  before(async () => {
    browser = await openChromium();
    backend = await startBackend({ history: { "webui:0000beef": history / 2 } });
  });
  after(async () => {
    await browser?.close();
    await backend?.stop();
  });

  const onPage = (
    scenario: (page: Page) => Promise<void>,
    {
      context,
      path = "",
      url = backend.url,
    }: { readonly context?: BrowserContextOptions; readonly path?: string; readonly url?: string } = {},
  ): Promise<void> => withPage(browser, url + path, scenario, { context, limitMs: 15_000 });

  pageTest("lists the scheduled jobs when somebody asks for them", () =>
    onPage(async (page) => {
      const rail = page.getByRole("navigation", { name: "Parts of the page" });
      await rail.getByRole("button", { name: "Jobs" }).click();
      await page.getByText("Nothing is scheduled.").waitFor();
      assert.equal(new URL(page.url()).hash, "#/jobs");
      await page.request.post(`${backend.url}api/cron`, {
        data: { title: "Water the plants", prompt: "water", cron: "0 9 * * *", sessionKey: "webui:plants" },
      });
      await page.reload();
      await page.getByRole("heading", { name: "Water the plants" }).waitFor();
      await page.getByRole("button", { name: "Open its chat" }).click();
      assert.equal(new URL(page.url()).hash, "#webui:plants");
      await page.goBack();
      await page.getByRole("heading", { name: "Water the plants" }).waitFor();
    }),
  );

  pageTest("streams an answer, shows the sent message at once and keeps both over a reload", () =>
    onPage(async (page) => {
      await send(page, "greet me");
      await page.locator(".message.user", { hasText: "greet me" }).waitFor();
      const answer = page.locator(".message.assistant .markdown");
      await waitForText(answer, "Hello there, friend.");
      assert.equal(await answer.locator("strong").textContent(), "friend");
      await waitUntilIdle(page);
      assert.equal(await page.locator(".pending").count(), 0);
      assert.match(new URL(page.url()).hash, /^#webui:[0-9a-f]{8}$/);

      await page.reload();
      await waitForText(answer, "Hello there, friend.");
      assert.equal(await page.locator(".message").count(), 2);
      const thinking = page.locator("details.thinking");
      assert.equal(await thinking.locator(".thought").isVisible(), false);
      await thinking.locator("summary").click();
      assert.equal(await thinking.locator(".thought").textContent(), "Somebody says hello.");
    }),
  );

  pageTest("shows Markdown and leaves nothing in it that could run, lead astray or fetch", () =>
    onPage(async (page) => {
      const requested: string[] = [];
      page.on("request", (request) => requested.push(new URL(request.url()).hostname));
      await send(page, "be hostile");
      const answer = page.locator(".message.assistant .markdown");
      await answer.locator("table").waitFor();
      await waitUntilIdle(page);
      assert.equal(await answer.locator("img, script, [onerror], [style]").count(), 0);
      assert.match((await answer.textContent()) ?? "", /<img src="x" onerror=/, "HTML is shown as the text it is");
      assert.equal(await page.evaluate("window.hacked"), undefined);
      const links = await answer.locator("a").evaluateAll((elements) => elements.map((element) => element.outerHTML));
      const [bad, data, local, good, image] = links;
      assert.doesNotMatch(`${bad}${data}${local}`, /href/);
      assert.match(good ?? "", /href="https:\/\/example.org\/a"/);
      assert.match(good ?? "", /title="https:\/\/example.org\/a"/, "what hovers over a link is where it leads");
      for (const link of [good, image])
        assert.match(
          link ?? "",
          /target="_blank".*rel="noopener noreferrer"|rel="noopener noreferrer".*target="_blank"/,
        );
      assert.equal(await answer.locator("td").nth(3).textContent(), "3");
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await answer.getByRole("button", { name: "Copy code" }).click();
      await answer.getByText("Copied").waitFor();
      assert.equal(await page.evaluate("navigator.clipboard.readText()"), "const one = 1;\n");
      assert.deepEqual(
        [...new Set(requested)].filter((host) => host !== "127.0.0.1"),
        [],
      );
    }),
  );

  pageTest("leaves nothing in folds, formulas, footnotes and coloured code that could run, lead astray or fetch", () =>
    onPage(async (page) => {
      const requested: string[] = [];
      page.on("request", (request) => requested.push(new URL(request.url()).hostname));
      await send(page, "be nasty");
      const answer = page.locator(".message.assistant .markdown");
      await waitForText(answer, "That was hostile.");
      await waitUntilIdle(page);
      await answer.locator("math").first().waitFor();
      await answer.locator(".token-keyword").first().waitFor();
      await answer.locator("summary").first().click();
      const astray =
        "img, script, iframe, [style], [onerror], [ontoggle], [onmouseover], [src], [id], math [href], math a";
      assert.equal(await answer.locator(astray).count(), 0);
      const links = await answer
        .locator("a[href]")
        .evaluateAll((found) => found.map((one) => one.getAttribute("href")));
      assert.deepEqual(links, ["https://tracker.example/fold.png"]);
      assert.equal(await answer.getByRole("link").getAttribute("target"), "_blank");
      assert.match((await answer.getByRole("link").textContent()) ?? "", /in it \(Show picture from tracker.example\)/);
      assert.match(
        (await answer.textContent()) ?? "",
        /<details open ontoggle=/,
        "a fold with more than a fold is text",
      );
      assert.match((await answer.textContent()) ?? "", /<script>window.hacked=1<\/script>/);
      assert.equal(await page.evaluate("window.hacked"), undefined);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
      assert.deepEqual(
        [...new Set(requested)].filter((host) => host !== "127.0.0.1"),
        [],
      );
    }),
  );

  pageTest("folds a tool call into a line with its status and opens it on demand", () =>
    onPage(async (page) => {
      await send(page, "look around");
      const tool = page.locator("details.tool");
      await tool.waitFor();
      assert.match((await tool.locator("summary").textContent()) ?? "", /^list_dir/);
      assert.equal(await tool.locator(".fold-body").isVisible(), false);
      await page.locator('details.tool[data-status="done"]').waitFor();
      assert.match((await tool.locator("summary").textContent()) ?? "", /done(\d+ ms|\d+\.\d s)$/);
      await tool.locator("summary").click();
      await waitForText(tool.locator("pre").first(), '"path": "."');
      await waitForText(page.locator(".message.assistant .markdown").last(), "nothing special");
      assert.equal(await tool.locator(".fold-body").isVisible(), true, "stays open while the answer goes on");
    }),
  );

  pageTest("loses and doubles nothing when the connection is cut in mid-stream", async () => {
    const rest = gate();
    const text = Array.from({ length: 70 }, (_, index) => `n${index + 1} `);
    const pause = { before: "n60 ", until: rest.opened };
    const own = await startBackend({ answer: () => ({ text, chunkDelayMs: 10, pause }) });
    const scenario = async (page: Page): Promise<void> => {
      let isReachable = true;
      let cut = (): void => undefined;
      await page.routeWebSocket(/\/ws/, (socket: WebSocketRoute) => {
        if (!isReachable) return void socket.close();
        const server = socket.connectToServer();
        cut = () => {
          isReachable = false;
          void socket.close();
          void server.close();
        };
      });
      await page.reload();
      await send(page, "count");
      const answer = page.locator(".message.assistant .markdown");
      await waitForText(answer, "n10 ");
      cut();
      await page.getByText(/^Offline/).waitFor();
      await page.getByText(/^The gateway is away since \d/).waitFor();
      assert.equal(await page.getByRole("button", { name: "Stop", exact: true }).count(), 0);
      isReachable = true;
      const assertWhole = async (): Promise<void> => {
        const numbers = ((await answer.textContent()) ?? "").trim().split(/\s+/);
        const expected = numbers.map((_, index) => `n${index + 1}`);
        assert.deepEqual(numbers, expected);
      };
      await waitForText(answer, "n55 ");
      await page.getByText("Writing").waitFor();
      await assertWhole();
      rest.open();
      await waitForText(answer, "n70");
      await waitUntilIdle(page);
      await assertWhole();
      assert.equal(await page.locator(".message").count(), 2);
      assert.equal(await page.getByText(/^Offline/).isVisible(), false);
    };
    try {
      await onPage(scenario, { url: own.url });
    } finally {
      rest.open();
      await own.stop();
    }
  });

  pageTest("shows a chat again when the gateway says that it has lost the end of it", () =>
    onPage(async (page) => {
      let cut = (): void => undefined;
      let isLost = false;
      await page.routeWebSocket(/\/ws/, (socket: WebSocketRoute) => {
        const server = socket.connectToServer();
        cut = () => {
          isLost = true;
          void socket.close();
          void server.close();
        };
        server.onMessage((frame) => {
          const answer = String(frame).replace(/("session_key":"webui:\w+","last_sequence":)\d+\}/, "$11}");
          socket.send(isLost ? answer : frame);
          if (answer !== frame) isLost = false;
        });
      });
      await page.reload();
      await send(page, "greet me");
      await waitForText(page.locator(".message.assistant .markdown"), "friend");
      await waitUntilIdle(page);
      const again = page.waitForResponse(/\/events\?from_sequence=0&/);
      cut();
      await again;
      await waitForText(page.locator(".message.assistant .markdown"), "friend");
      assert.equal(await page.locator(".message").count(), 2);
    }),
  );

  pageTest("sends what was written while offline once the connection is back, and only once", () =>
    onPage(async (page) => {
      let isReachable = true;
      const open = new Set<() => void>();
      await page.routeWebSocket(/\/ws/, (socket: WebSocketRoute) => {
        if (!isReachable) return void socket.close();
        const server = socket.connectToServer();
        open.add(() => {
          void socket.close();
          void server.close();
        });
      });
      await page.reload();
      await send(page, "greet me");
      await waitForText(page.locator(".message.assistant .markdown"), "friend");
      await waitUntilIdle(page);
      isReachable = false;
      for (const cut of open) cut();
      await page.getByText(/^Offline/).waitFor();
      await send(page, "are you there");
      await page.locator(".pending", { hasText: "are you there" }).waitFor();
      isReachable = true;
      // The page may be back by itself before the button is hit.
      const tryNow = page.getByRole("button", { name: "Try now" });
      await tryNow.click({ timeout: 500 }).catch(() => undefined);
      await waitForText(page.locator(".message.assistant .markdown").last(), "You said: are you there");
      assert.equal(await page.locator(".message.user", { hasText: "are you there" }).count(), 1);
      assert.equal(await page.locator(".pending").count(), 0);
    }),
  );

  pageTest("keeps a message that is sent before the page has found its gateway", () =>
    onPage(async (page) => {
      const url = page.url();
      // A request of the page that is left must not be taken for the new one's.
      await page.goto("about:blank");
      await page.route(
        "**/api/status",
        async (route) => {
          await send(page, "greet me");
          await route.continue();
        },
        { times: 1 },
      );
      await page.goto(url);
      await waitForText(page.locator(".message.assistant .markdown"), "friend");
    }),
  );

  pageTest("shows an event of an unknown type as one plain line and goes on", () =>
    onPage(async (page) => {
      let inject = (_event: object): void => undefined;
      await page.routeWebSocket(/\/ws/, (socket: WebSocketRoute) => {
        socket.connectToServer();
        inject = (event) => socket.send(JSON.stringify({ type: "event", event, source: "server" }));
      });
      await page.reload();
      await send(page, "greet me");
      await waitForText(page.locator(".message.assistant .markdown"), "friend");
      const session_key = decodeURIComponent(new URL(page.url()).hash.slice(1));
      const envelope = { schema_version: "1.0", session_key, seq: null, timestamp: new Date().toISOString() };
      inject({ ...envelope, event_id: "evt_1", type: "new_event_type", payload: { anything: [1, { b: 2 }] } });
      inject({ ...envelope, event_id: "evt_2", type: "user_message_queued", payload: { content: "of another shape" } });
      await page.locator(".notice-text", { hasText: /^new_event_type$/ }).waitFor();
      await page.locator(".notice-text", { hasText: /^user_message_queued$/ }).waitFor();
      await send(page, "and now");
      await waitForText(page.locator(".message.assistant .markdown").last(), "You said: and now");
    }),
  );

  pageTest("what failed while the gateway was away is said no more once it is back", () =>
    withPage(
      browser,
      backend.url,
      async (page) => {
        let isAway = false;
        const sockets = new Set<WebSocketRoute>();
        await page.routeWebSocket(/\/ws/, (socket: WebSocketRoute) => {
          sockets.add(socket);
          if (isAway) void socket.close();
          else socket.connectToServer();
        });
        await page.route(/\/export/, (route) => (isAway ? route.abort() : route.continue()));
        await page.reload();
        await send(page, "greet me");
        await waitForText(page.locator(".message.assistant .markdown"), "friend");
        await waitUntilIdle(page);
        // The list is read a second later.
        const row = page.locator(".session-groups .session", { hasText: "greet me" }).first();
        await row.waitFor();
        isAway = true;
        for (const socket of sockets) await socket.close();
        await page.locator(".banner.offline").waitFor();
        await row.hover();
        await row.getByRole("button", { name: /^Actions/ }).click();
        await page.getByRole("menuitem", { name: "Save as Markdown" }).click();
        await page.locator(".banner.failure").waitFor();
        isAway = false;
        // It may have tried by itself in this moment.
        await page.evaluate("dispatchEvent(new Event('online'))");
        await page.locator(".banner.offline").waitFor({ state: "hidden" });
        await page.locator(".banner.failure").waitFor({ state: "detached" });
      },
      { expected: /Failed to load resource|ERR_FAILED/ },
    ),
  );

  pageTest("sends what is typed right after a change of chat to the new one, and goes back to the old", () =>
    onPage(async (page) => {
      await send(page, "greet me");
      await waitUntilIdle(page);
      const before = page.url();
      // In one task: nothing that the browser tells later comes between.
      await page.evaluate(`(() => {
        document.querySelector(".new-chat").click();
        const area = document.getElementById("message");
        area.value = "me too";
        area.dispatchEvent(new Event("input", { bubbles: true }));
        area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      })()`);
      await page.locator(".message.user", { hasText: "me too" }).waitFor();
      assert.notEqual(page.url(), before);
      assert.equal(await page.locator(".message.user").count(), 1);
      await page.goBack();
      await page.locator(".message.user", { hasText: "greet me" }).waitFor();
      assert.deepEqual([page.url(), await page.locator(".message.user").count()], [before, 1]);
    }),
  );

  pageTest("a chat that was left before the gateway had its first message is whole for who comes back", () => {
    const left = gate();
    return withPage(
      browser,
      backend.url,
      async (page) => {
        await send(page, "greet me");
        const before = page.url();
        await page.locator(".new-chat").click();
        await page.waitForURL((url) => url.href !== before);
        left.open();
        const key = new URL(before).hash.slice(1);
        const stored = async () => await (await fetch(`${backend.url}api/sessions/${key}`)).text();
        await until("it is answered", async () => /"role":\s*"assistant"/.test(await stored()));
        await page.goBack();
        for (const role of ["user", "assistant"]) await page.locator(`.message.${role}`).waitFor();
        assert.match((await page.locator(".message.user").textContent()) ?? "", /greet me/);
        assert.deepEqual([page.url(), await page.locator(".message.user").count()], [before, 1]);
      },
      {
        // What is written arrives when the reader has left.
        onPage: (page) =>
          page.routeWebSocket(/\/ws/, (socket) => {
            const server = socket.connectToServer();
            socket.onMessage((data) => void left.opened.then(() => server.send(data)));
          }),
      },
    );
  });

  pageTest("stops a running turn and says so", () =>
    onPage(async (page) => {
      await send(page, "write a long story");
      await waitForText(page.locator(".message.assistant .markdown"), "word3");
      await page.getByRole("button", { name: "Stop" }).click();
      await page.locator(".notice", { hasText: "Stopped." }).waitFor();
      await page.getByText("Cut off here").waitFor();
      await waitUntilIdle(page);
      assert.equal(await page.getByRole("button", { name: "Stop" }).isVisible(), false);
    }),
  );

  pageTest("says in a plain line that a turn failed", () =>
    onPage(async (page) => {
      await send(page, "fail please");
      const notice = page.locator('.notice[data-tone="error"]');
      await notice.waitFor();
      assert.notEqual((await notice.locator(".notice-text").textContent())?.trim(), "");
      await waitUntilIdle(page);
    }),
  );

  pageTest("renames and deletes chats, the latter only after a question", () =>
    onPage(async (page) => {
      await send(page, "greet me");
      await waitForText(page.locator(".message.assistant .markdown"), "friend");
      const row = page.locator(".session.current");
      await row.waitFor();
      await row.hover();
      const choose = async (name: string): Promise<void> => {
        await row.getByRole("button", { name: /^Actions/ }).click();
        await page.getByRole("menuitem", { name }).click();
      };
      await choose("Rename");
      await page.getByLabel("Title").fill("A friendly chat");
      await page.keyboard.press("Enter");
      await page.locator(".session.current", { hasText: "A friendly chat" }).waitFor();
      await waitForText(page.locator("h1"), "A friendly chat");

      await row.hover();
      await choose("Delete");
      await page.getByRole("button", { name: "Cancel" }).click();
      assert.equal(await page.locator(".session", { hasText: "A friendly chat" }).count(), 1);
      await choose("Delete");
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.locator(".session", { hasText: "A friendly chat" }).waitFor({ state: "detached" });
      await page.getByText("What can I do for you?").waitFor();
    }),
  );

  pageTest("shows the newest of 2000 messages first and the older ones on the way up", () =>
    onPage(
      async (page) => {
        await waitForText(page.locator(".message.assistant .markdown").last(), `Answer ${history / 2}`);
        assert.ok((await page.locator(".message").count()) < 200, "only a part is in the page");
        assert.ok(await isAtBottom(page));
        const scroller = page.locator(".scroller");
        const oldest = page.locator(".message.user .bubble", { hasText: /^Question 700$/ });
        for (let tries = 0; tries < 40 && (await oldest.count()) === 0; tries += 1) {
          const first = (await page.locator(".message").first().textContent()) ?? "";
          await scroller.evaluate((element) => element.scrollTo(0, 0));
          while ((await page.locator(".message").first().textContent()) === first) {}
        }
        assert.equal(await oldest.count(), 1);
        assert.equal(await isAtBottom(page), false, "loading older messages does not move the reader");
        await page.getByRole("button", { name: "Go to the newest message" }).click();
        assert.ok(await isAtBottom(page));
        assert.ok((await page.locator(".message").count()) < 200, "what is far up leaves the page again");
      },
      { path: "#webui:0000beef" },
    ),
  );

  pageTest("stays with a reader who has scrolled up while an answer streams", () =>
    onPage(
      async (page) => {
        await waitForText(page.locator(".message.assistant .markdown").last(), `Answer ${history / 2}`);
        await send(page, "count slowly");
        await waitForText(page.locator(".message.assistant .markdown").last(), "n5 ");
        await page.locator(".scroller").hover();
        await page.mouse.wheel(0, -900);
        await page.getByRole("button", { name: "Go to the newest message" }).waitFor();
        const top = await scrollTop(page);
        await waitForText(page.locator(".message.assistant .markdown").last(), "n70");
        await waitUntilIdle(page);
        assert.ok(Math.abs((await scrollTop(page)) - top) < 2);
      },
      { path: "#webui:0000beef" },
    ),
  );

  pageTest("has the list of chats in a drawer on a phone", () =>
    onPage(
      async (page) => {
        await page.getByRole("button", { name: "Send" }).waitFor();
        const list = page.getByRole("navigation", { name: "Chats" });
        assert.equal(await list.isVisible(), false);
        await page.getByRole("button", { name: "Menu" }).click();
        await list.waitFor();
        await page.keyboard.press("Escape");
        await list.waitFor({ state: "hidden" });
        await page.getByRole("button", { name: "Menu" }).click();
        await list.locator(".new-chat").click();
        await list.waitFor({ state: "hidden" });
        const width = await page.evaluate("document.documentElement.scrollWidth");
        assert.equal(width, 390, "nothing is wider than the phone");
      },
      { context: { viewport: { width: 390, height: 844 }, hasTouch: true } },
    ),
  );

  pageTest("on a phone the field still says whole what it is for while an answer can be stopped", () =>
    onPage(
      async (page) => {
        const field = page.getByLabel("Message", { exact: true });
        await field.fill("write a long story");
        await field.press("Enter");
        await page.getByRole("button", { name: "Stop" }).waitFor();
        const room = Number(await page.evaluate(roomBesidePlaceholder));
        await page.getByRole("button", { name: "Stop" }).click();
        assert.ok(room >= 0, `${room} px`);
      },
      { context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } },
    ),
  );

  pageTest("follows the system's light or dark colours", async () => {
    const colours: unknown[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await onPage(
        async (page) => {
          await page.getByRole("button", { name: "Send" }).waitFor();
          colours.push(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
        },
        { context: { colorScheme } },
      );
    }
    assert.notEqual(colours[0], colours[1]);
  });

  pageTest("tells what is wrong with the gateway until it is put away", async () => {
    const unfinished = await startBackend({ isUnfinished: true });
    const [problem] = unfinished.problems;
    assert.ok(problem !== undefined);
    try {
      await onPage(
        async (page) => {
          const note = page.locator(".banner.problem", { hasText: problem });
          await note.waitFor();
          await note.getByRole("button", { name: "Dismiss" }).click();
          assert.equal(await note.count(), 0);
          await page.getByText("offline stand-in", { exact: true }).waitFor();
        },
        { url: unfinished.url },
      );
    } finally {
      await unfinished.stop();
    }
  });

  pageTest("what somebody has mended outside of the gateway goes from the page by itself", async () => {
    const own = await startBackend();
    try {
      chmodSync(own.home, 0o755);
      const file = join(own.home, "config.json");
      writeFileSync(file, `${readFileSync(file, "utf8")}\n`);
      const told = async () => await (await fetch(`${own.url}api/status`)).text();
      await until("it is told", async () => (await told()).includes("chmod 700"));
      await withPage(
        browser,
        own.url,
        async (page) => {
          const banner = page.locator(".banner.problem", { hasText: "chmod 700" });
          await banner.waitFor();
          chmodSync(own.home, 0o700);
          await page.clock.fastForward(30_000);
          await banner.waitFor({ state: "detached" });
        },
        { onPage: (page) => page.clock.install() },
      );
    } finally {
      await own.stop();
    }
  });

  pageTest("on a phone what is wrong is one line, opened by a tap; what was put away stays away", async () => {
    const unfinished = await startBackend({ isUnfinished: true });
    try {
      await onPage(
        async (page) => {
          const count = page.getByRole("button", { name: /^\d+ problems?$/ });
          await count.waitFor();
          const notes = page.locator(".banner.problem");
          const n = await notes.count();
          assert.equal(await count.innerText(), n === 1 ? "1 problem" : `${n} problems`);
          assert.equal(await notes.first().isVisible(), false);
          const height = await page.locator(".banners").evaluate((one) => one.clientHeight);
          assert.ok(height <= 56, `${height} px`);
          await count.tap();
          for (let left = n; left > 0; left -= 1) await notes.first().getByRole("button", { name: "Dismiss" }).tap();
          await count.waitFor({ state: "hidden" });
          await page.reload();
          await page.locator(".main:not(.is-settling)").waitFor();
          assert.equal(await notes.count(), 0);
          assert.equal(await count.isVisible(), false);
        },
        { url: unfinished.url, context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } },
      );
    } finally {
      await unfinished.stop();
    }
  });

  pageTest("asks for the token where one is needed, keeps it nowhere and takes none from the address", async () => {
    const guarded = await startBackend({ token: "secret-token" });
    try {
      const context = await browser.newContext();
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      await page.goto(`${guarded.url}?token=secret-token`);
      await page.getByRole("dialog").waitFor();
      assert.equal(await page.getByText("Loading earlier messages").isVisible(), false, "nothing is loaded yet");
      await page.getByRole("textbox", { name: "Token" }).fill("wrong");
      await page.keyboard.press("Enter");
      await page.getByText("did not accept").waitFor();
      await page.getByRole("textbox", { name: "Token" }).fill("secret-token");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await send(page, "greet me");
      await waitForText(page.locator(".message.assistant .markdown"), "friend");
      assert.equal(await page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length"), 0);
      await page.reload();
      await waitForText(page.locator(".message.assistant .markdown"), "friend");
      await context.close();
    } finally {
      await guarded.stop();
    }
  });
});

async function send(page: Page, text: string): Promise<void> {
  const field = page.getByLabel("Message", { exact: true });
  await field.fill(text);
  await field.press("Enter");
}

async function waitForText(locator: ReturnType<Page["locator"]>, text: string): Promise<void> {
  await locator.filter({ hasText: text }).waitFor();
}

async function waitUntilIdle(page: Page): Promise<void> {
  await page.locator(".working").waitFor({ state: "hidden" });
}

async function isAtBottom(page: Page): Promise<boolean> {
  return await page
    .locator(".scroller")
    .evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight < 3);
}

async function scrollTop(page: Page): Promise<number> {
  return await page.locator(".scroller").evaluate((element) => element.scrollTop);
}

const roomBesidePlaceholder = `(() => {
  const area = document.querySelector("#message");
  const { font, paddingLeft, paddingRight } = getComputedStyle(area);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  return area.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - pen.measureText(area.placeholder).width;
})()`;

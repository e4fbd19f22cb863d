import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createAddressPolicy } from "../../../src/policy/locations/addresses.js";
import { createEgress } from "../../../src/policy/locations/egress.js";
import { keptFolderOf } from "../../../src/policy/locations/zones.js";
import { browserTool } from "../../../src/tools/browser/browser.js";
import { type BrowserChange, Browsers, type BrowsersOptions } from "../../../src/tools/browser/browsers.js";
import { createRenderer } from "../../../src/tools/browser/render-page.js";
import { toInputSchema } from "../../../src/tools/schema.js";
import type { ToolContext, ToolResult } from "../../../src/tools/tool.js";
import { webFetchTool } from "../../../src/tools/web/web-fetch.js";
import { until } from "../../support/engine/engine-kit.js";
import { startSite, type WebSite } from "../../support/fakes/web-site.js";
import { browserArgs, findChromium, withoutChromium } from "../../support/worlds/needs.js";
import { type ContextOptions, createToolPlace, type ToolPlace } from "../../support/worlds/tools/tool-context.js";

interface Setup extends AsyncDisposable {
  readonly place: ToolPlace;
  readonly browsers: Browsers;
  readonly changes: readonly BrowserChange[];
  readonly profiles: string;
  act(input: object, options?: ContextOptions): Promise<ToolResult>;
  visit(url: string): Promise<ToolResult>;
  /** By web_fetch with the browser. */
  fetch(url: string, timeoutMs?: number): Promise<ToolResult>;
}

function open(allow: readonly string[], options: Partial<BrowsersOptions> = {}): Setup {
  const place = createToolPlace();
  const changes: BrowserChange[] = [];
  const profiles = path.join(place.root, "profiles");
  const egress = createEgress(createAddressPolicy(allow));
  const browsers = new Browsers({
    executablePath: findChromium() ?? "",
    args: browserArgs,
    egress,
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
    visit: (url) => place.run(tool, { action: "navigate", url }, { mode: "auto" }),
    async fetch(url, timeoutMs = 20_000) {
      const render = createRenderer(browsers, "web_fetch", timeoutMs);
      const fetching = webFetchTool({ egress, timeoutMs, userAgent: "test", mode: "chrome", render });
      return await place.run(fetching, { url });
    },
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
  const waited = await act({ action: "wait", text: "It is late" });
  assert.match(waited.text, /It is late/);
  assert.equal(waited.isPoll, true, "to do it again is waiting, and no loop that a person is asked about");
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

/** Whatever a page can do to get at another server, by its port on this machine. `stun` is a UDP port. */
function hostile(inside: WebSite, stun: number): string {
  const port = inside.host.split(":")[1];
  return `<p>trying</p><img src="${inside.url}/img"><link rel="stylesheet" href="http://localhost:${port}/css">
    <link rel="preconnect" href="${inside.url}"><link rel="prefetch" href="${inside.url}/prefetch"><iframe src="${inside.url}/frame"></iframe>
    <form method="post" action="${inside.url}/form" target="_blank"></form><script>
    const quiet = { mode: "no-cors" };
    const over = (open) => new Promise((done) => { open(done); setTimeout(done, 2000); });
    const code = "fetch('${inside.url}/worker', { mode: 'no-cors' }).then(() => postMessage(1), () => postMessage(1))";
    const tries = [
      fetch("${inside.url}/fetch", quiet), fetch("/away", quiet), fetch("http://169.254.169.254/latest/meta-data/", quiet),
      fetch("http://localhost:${port}/name", quiet), fetch("http://[::1]:${port}/six", quiet),
      fetch("http://2130706433:${port}/decimal", quiet), fetch("https://127.0.0.1:${port}/tls", quiet),
      over((done) => { const ws = new WebSocket("ws://${inside.host}/ws"); ws.onclose = ws.onerror = done; }),
      over((done) => { new Worker(URL.createObjectURL(new Blob([code]))).onmessage = done; }),
      over((done) => { new WebTransport("https://${inside.host}/transport").closed.then(done, done); }),
      over(async (done) => {
        const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:${stun}" }] });
        peer.createDataChannel("x");
        peer.onicegatheringstatechange = () => peer.iceGatheringState === "complete" && done();
        await peer.setLocalDescription(await peer.createOffer());
      }),
    ];
    navigator.sendBeacon("${inside.url}/beacon", "x");
    new EventSource("${inside.url}/events");
    window.open("${inside.url}/window");
    document.forms[0].submit();
    Promise.allSettled(tries).then(() => document.body.append("all tried"));</script>`;
}

for (const way of ["browser", "web_fetch"] as const)
  test(`${way}: nothing on a page reaches an address that policy does not open, whichever way it tries`, {
    skip,
  }, async () => {
    await using inside = await startSite((_, response) => page(response, "secret of the house"));
    const datagrams = createSocket("udp4");
    let heard = 0;
    datagrams.on("message", () => {
      heard += 1;
    });
    datagrams.bind(0, "127.0.0.1");
    await once(datagrams, "listening");
    await using site = await startSite((request, response) => {
      if (request.url === "/away") return response.writeHead(302, { location: `${inside.url}/redirected` }).end();
      if (request.url === "/script") return page(response, `<script>location = "${inside.url}/script"</script>`);
      page(response, hostile(inside, datagrams.address().port));
    });
    await using setup = open([site.host]);
    const key = way === "browser" ? "telegram:42" : "web_fetch";
    const visit = way === "browser" ? setup.visit : setup.fetch;
    const shown = await visit(site.url);
    assert.match(
      way === "browser" ? (await setup.act({ action: "wait", text: "all tried" })).text : shown.text,
      /all tried/,
    );
    using held = await setup.browsers.hold(key);
    assert.match(held.refusalOf("169.254.169.254") ?? "", /private network/, "it came by the proxy");
    const directly = way === "browser" ? [inside.url, `https://${inside.host}/`] : [];
    for (const where of [`${site.url}/away`, ...directly])
      assert.match((await visit(where)).text, /private network/, where);
    assert.ok(!(await visit(`${site.url}/script`)).text.includes("secret"));
    assert.deepEqual(inside.requests, []);
    assert.equal(await inside.connections(), 0);
    assert.equal(heard, 0);
    datagrams.close();
  });

test("a page that web_fetch reads leaves nothing to the next one", { skip }, async () => {
  const text = "This page is long enough to be read by anybody. ".repeat(8);
  await using site = await startSite((request, response) => {
    response.setHeader("set-cookie", "who=first; Max-Age=3600");
    const { cookie = "none" } = request.headers;
    page(
      response,
      `<article><p>${text}</p><p>cookie: ${cookie}, stored: <b></b></p></article>
       <script>document.querySelector("b").textContent = localStorage.x ?? "none"; localStorage.x = 1; open("/other");</script>`,
    );
  });
  await using setup = open([site.host]);
  for (const time of ["first", "second"])
    assert.match((await setup.fetch(site.url)).text, /cookie: none, stored: \*\*none/, time);
  using held = await setup.browsers.hold("web_fetch");
  assert.equal(held.context.browser()?.contexts().length, 1);
});

test("what a server answers in the browser is told as it is", { skip }, async () => {
  await using site = await startSite((request, response) => {
    const file = { "/zip": "application/zip", "/pdf": "application/pdf" }[request.url ?? ""];
    if (file !== undefined) return response.writeHead(200, { "content-type": file }).end("%PDF-1.4");
    response.writeHead(404, { "content-type": "text/html" });
    response.end(`<p>${"There is no such page here. ".repeat(20)}</p>`);
  });
  await using setup = open([site.host]);
  const missing = await setup.fetch(`${site.url}/missing`);
  assert.equal(missing.isError, true);
  assert.match(missing.text, /status 404[\s\S]*There is no such page/);
  for (const file of ["zip", "pdf"])
    assert.match((await setup.fetch(`${site.url}/${file}`)).text, /is a file, not a web page; fetch it with mode http/);
});

test("a page whose script never ends holds up nobody", { skip }, async () => {
  await using site = await startSite((_, response) =>
    page(response, "<p>here</p><script>setTimeout(() => { for (;;); }, 100)</script>"),
  );
  await using setup = open([site.host]);
  assert.match((await setup.fetch(site.url, 500)).text, /was not ready within 0\.5 seconds/);
});

test("a rule holds also where a redirect or a script leads to", { skip }, async () => {
  await using other = await startSite((_, response) => page(response, "<h1>Secret</h1>"));
  await using site = await startSite((request, response) => {
    if (request.url === "/away") return response.writeHead(302, { location: other.url }).end();
    page(response, `<h1>Here</h1><button onclick="location = '${other.url}'">Go</button>`);
  });
  await using setup = open([site.host, other.host]);
  const rules = [{ tool: "browser", argument: `${other.url}*`, verdict: "deny" }] as const;
  const opened = await setup.act({ action: "navigate", url: site.url }, { rules });
  assert.match(opened.text, /heading "Here"/);
  const forbidden = /has led to .* not allowed as such/;
  assert.match((await setup.act({ action: "click", ref: refOf(opened, 'button "Go"') }, { rules })).text, forbidden);
  for (const action of ["snapshot", "screenshot"])
    assert.match((await setup.act({ action }, { rules })).text, forbidden);
  assert.match((await setup.act({ action: "navigate", url: `${site.url}/away` }, { rules })).text, forbidden);
  assert.match((await setup.act({ action: "navigate", url: site.url }, { rules })).text, /heading "Here"/);
});

test("a page opens no windows by itself", { skip }, async () => {
  await using site = await startSite((_, response) =>
    page(response, "<h1>Here</h1><script>for (let i = 0; i < 5; i++) open('/more')</script>"),
  );
  await using setup = open([site.host]);
  await setup.visit(site.url);
  assert.match((await setup.act({ action: "tabs" })).text, /^1[^\n]*$/);
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
  const given: Parameters<ToolContext["chat"]["artifact"]>[0][] = [];
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
  assert.equal(path.dirname(artifact.path), path.join(keptFolderOf(setup.place.folder), "screenshots"));
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

test("what a page logs fills no memory", { skip }, async () => {
  await using setup = open([]);
  using held = await setup.browsers.hold("telegram:1");
  const tab = await held.context.newPage();
  await tab.evaluate(() => console.log("x".repeat(1000)));
  await until("it is forgotten", async () => (await tab.consoleMessages()).length === 0, 10_000);
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

test("why a browser does not start is told in its own words, and where there is a remedy with it", async () => {
  using place = createToolPlace();
  for (const [words, told] of [
    [
      "chrome: error while loading shared libraries: libnss3.so",
      /could not be started: chrome: error while .* libnss3/,
    ],
    ["[9:9:FATAL:zygote_host.cc(128)] No usable sandbox! If you are", /set tools\.browser\.args to \["--no-sandbox"\]/],
  ] as const) {
    const executablePath = place.file("chromium", `#!/bin/sh\necho "${words}" >&2\nexit 1\n`);
    chmodSync(executablePath, 0o755);
    await using setup = open([], { executablePath });
    assert.match((await setup.act({ action: "snapshot" })).text, told);
    assert.match(setup.changes[0]?.detail ?? "", /libnss3|--no-sandbox/);
  }
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
  const render = createRenderer(setup.browsers, "web_fetch", 20_000);
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
  const script = fileURLToPath(new URL("../../support/worlds/http/browser-child.js", import.meta.url));
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

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { createAddressPolicy } from "../../../src/policy/locations/addresses.js";
import { createEgress, type LookUp } from "../../../src/policy/locations/egress.js";
import { toInputSchema } from "../../../src/tools/schema.js";
import type { Tool, ToolResult } from "../../../src/tools/tool.js";
import { webFetchTool } from "../../../src/tools/web/web-fetch.js";
import { webSearchTool } from "../../../src/tools/web/web-search.js";
import { makeDocx } from "../../support/documents.js";
import { until } from "../../support/engine/engine-kit.js";
import { articlePage, startSite } from "../../support/fakes/web-site.js";
import { type ContextOptions, createToolPlace } from "../../support/worlds/tools/tool-context.js";

interface Setup extends ContextOptions {
  readonly allow?: readonly string[];
  readonly timeoutMs?: number;
  readonly lookUp?: LookUp;
}

function toolOf({ allow = ["127.0.0.1"], timeoutMs = 20_000, lookUp }: Setup): Tool {
  const egress = createEgress(createAddressPolicy(allow), lookUp);
  return webFetchTool({ egress, timeoutMs, userAgent: "maxclaw-test", mode: "auto" });
}

async function fetchPage(url: string, setup: Setup = {}): Promise<ToolResult> {
  using place = createToolPlace();
  return await place.run(toolOf(setup), { url }, setup);
}

function html(response: ServerResponse, body: string | Buffer, type = "text/html; charset=utf-8"): void {
  response.writeHead(200, { "content-type": type });
  response.end(body);
}

test("an article becomes Markdown without what is around it, and counts as written by others", async () => {
  const body =
    '<p>See <a href="more">more</a>, <a href="javascript:alert(1)">this</a> and <img src="/p.png" alt="a cat">.</p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><script>evil()</script>';
  await using site = await startSite((_, response) => html(response, articlePage("Über uns", body)));
  const result = await fetchPage(`${site.url}/x/page`);
  assert.equal(result.isError, false, result.text);
  assert.match(result.text, /^# Über uns\n/);
  assert.ok(result.text.includes(`[more](${site.url}/x/more)`), result.text);
  assert.match(result.text, /\| a \s*\| b \s*\|\n\| ---/);
  assert.match(result.text, /\[picture: a cat\]/);
  for (const noise of ["Menu", "Imprint", "evil", "javascript"]) assert.ok(!result.text.includes(noise), noise);
  assert.equal(result.outside, `${site.url}/x/page`);
  const [request] = site.requests;
  assert.equal(request?.headers["user-agent"], "maxclaw-test");
  assert.equal(request?.headers.cookie, undefined);
});

test("five redirects are followed, a sixth is not, and each step is judged again", async () => {
  await using site = await startSite((request, response) => {
    const [, kind, count] = /^\/(\w+)\/?(.*)$/.exec(request.url ?? "") ?? [];
    const to = {
      hop: Number(count) > 0 ? `/hop/${Number(count) - 1}` : undefined,
      away: "http://127.0.0.2:1/",
      metadata: "http://169.254.169.254/latest/meta-data/",
      six: "//[::1]:9/",
      decimal: "http://2130706434:9/",
      file: "file:///etc/passwd",
      broken: "http://",
    }[kind ?? ""];
    if (to === undefined) return html(response, "at the end", "text/plain");
    response.writeHead(302, { location: to, "set-cookie": "a=b" });
    response.end();
  });
  const five = await fetchPage(`${site.url}/hop/5`);
  assert.equal(five.text, `[redirected to ${site.url}/hop/0]\n\nat the end`);
  assert.ok(site.requests.every(({ headers }) => headers.cookie === undefined && headers.referer === undefined));
  assert.match((await fetchPage(`${site.url}/hop/6`)).text, /more than 5 times/);
  for (const kind of ["away", "metadata", "six", "decimal"])
    assert.match((await fetchPage(`${site.url}/${kind}`)).text, /private network/, kind);
  assert.match((await fetchPage(`${site.url}/file`)).text, /Only http and https/);
  assert.equal((await fetchPage(`${site.url}/broken`)).isError, true);
});

test("a redirect to what a rule forbids is not followed", async () => {
  await using site = await startSite((request, response) => {
    if (request.url === "/secret") return html(response, "secret", "text/plain");
    response.writeHead(301, { location: "/secret" });
    response.end();
  });
  const rules = [{ tool: "web_fetch", argument: "*/secret", verdict: "deny" }] as const;
  const result = await fetchPage(`${site.url}/`, { rules });
  assert.match(result.text, /leads to .*\/secret, which is not allowed/);
  assert.ok(!site.requests.some(({ path }) => path === "/secret"));
});

test("a name that leads to a private address at the second look is still dialled where it led at the first", async () => {
  await using site = await startSite((_, response) => html(response, "inside", "text/plain"));
  const port = site.host.split(":")[1];
  let looks = 0;
  const lookUp: LookUp = async () => {
    looks += 1;
    return [{ address: looks === 1 ? "127.0.0.9" : "127.0.0.1", family: 4 }];
  };
  // Only the first answer is open: anyone who looks the name up once more, here or in the system, comes to the server.
  const result = await fetchPage(`http://localhost:${port}/`, { lookUp, allow: ["127.0.0.9"], timeoutMs: 5000 });
  assert.equal(looks, 1);
  assert.match(result.text, /could not be reached|did not answer/);
  assert.equal(site.requests.length, 0);
  const later = await fetchPage(`http://localhost:${port}/`, { lookUp, allow: ["127.0.0.9"] });
  assert.match(later.text, /private network/);
});

test("without an entry in the allow-list a server of this machine is not even dialled", async () => {
  await using site = await startSite((_, response) => html(response, "inside", "text/plain"));
  const result = await fetchPage(site.url, { allow: [] });
  assert.match(result.text, /tools\.web\.fetch\.allow/);
  assert.equal(result.isError, true);
  assert.equal(site.requests.length, 0);
});

test("slow answers, bodies without end and bombs end at the limits, and the connection is gone", async () => {
  const bomb = gzipSync(Buffer.alloc(60 * 1024 * 1024, "x"));
  await using site = await startSite((request, response) => {
    if (request.url === "/silent") return;
    if (request.url === "/bomb") {
      response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" });
      return response.end(bomb);
    }
    response.writeHead(200, { "content-type": "text/plain" });
    if (request.url === "/drip") {
      const timer = setInterval(() => response.write("."), 20);
      response.once("close", () => clearInterval(timer));
      return;
    }
    const flood = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
      response.once("drain", flood);
    };
    flood();
  });
  for (const path of ["/silent", "/drip"])
    assert.match(
      (await fetchPage(site.url + path, { timeoutMs: 300 })).text,
      /did not answer within 0\.3 seconds/,
      path,
    );
  for (const path of ["/bomb", "/flood"]) {
    const result = await fetchPage(site.url + path);
    assert.match(result.text.slice(0, 100), /only its first 5 MB/, path);
    assert.ok(result.text.length < 5.1 * 1024 * 1024);
  }
  await until("no connection is left", async () => (await site.connections()) === 0);
});

test("a stopped turn ends the request at once", async () => {
  await using site = await startSite(() => {});
  const stopping = new AbortController();
  const fetching = fetchPage(site.url, { signal: stopping.signal });
  await until("the request is there", () => site.requests.length === 1);
  stopping.abort(new Error("stopped"));
  await assert.rejects(fetching, /stopped/);
});

test("text is read in the encoding that the page, its mark or the server names", async () => {
  const cases: Readonly<Record<string, readonly [Buffer, string]>> = {
    "/header": [Buffer.from("c4e3bac3", "hex"), "text/plain; charset=gb2312"],
    "/meta": [
      Buffer.concat([Buffer.from('<html><head><meta charset="gbk"></head><body><p>'), Buffer.from("c4e3bac3", "hex")]),
      "text/html",
    ],
    "/euro": [Buffer.from("c4e3bac3a2e3a8bf", "hex"), "text/plain; charset=gbk"],
    "/rare": [Buffer.from("c4e3bac395328236", "hex"), "text/plain; charset=gb2312"],
    "/mark": [Buffer.from("\uFEFF你好", "utf16le"), "text/plain"],
    "/plain": [Buffer.from("你好"), "text/plain"],
    "/unknown": [Buffer.from("你好"), "text/plain; charset=klingon"],
    "/json": [Buffer.from('{"a":"你好"}'), "application/json"],
  };
  await using site = await startSite((request, response) => {
    const western = Buffer.from("Gr\xfc\xdfe \x96 \x935 \x80\x94", "latin1");
    const westernType = request.url === "/named" ? "text/plain; charset=iso-8859-1" : "text/plain";
    const [body, type] = cases[request.url ?? ""] ?? [western, westernType];
    html(response, body, type);
  });
  for (const path of Object.keys(cases)) assert.match((await fetchPage(site.url + path)).text, /你好/, path);
  assert.equal((await fetchPage(`${site.url}/euro`)).text, "你好€ǹ");
  assert.equal((await fetchPage(`${site.url}/rare`)).text, "你好𠀀");
  for (const path of ["/latin", "/named"])
    assert.match((await fetchPage(`${site.url}${path}`)).text, /Grüße – “5 €”/, path);
});

test("documents are read, pictures and programs are named, errors of servers say so", async () => {
  await using site = await startSite((request, response) => {
    if (request.url === "/docx")
      return html(response, makeDocx("<w:p><w:r><w:t>From Word</w:t></w:r></w:p>"), "application/octet-stream");
    if (request.url === "/png") return html(response, Buffer.from("\x89PNG", "latin1"), "image/png");
    if (request.url === "/damaged") {
      response.writeHead(200, { "content-encoding": "gzip", "content-type": "text/plain" });
      return response.end("this is not gzip");
    }
    response.writeHead(404, { "content-type": "text/plain" });
    response.end("nothing here");
  });
  assert.equal((await fetchPage(`${site.url}/docx`)).text, "From Word");
  assert.match((await fetchPage(`${site.url}/png`)).text, /image\/png \(4 bytes\), which cannot be read/);
  assert.match((await fetchPage(`${site.url}/damaged`)).text, /what it sent is damaged/);
  const gone = await fetchPage(`${site.url}/404`);
  assert.deepEqual([gone.isError, gone.text], [true, "[the server answers with status 404]\n\nnothing here"]);
  const closed = await startSite(() => {});
  await closed[Symbol.asyncDispose]();
  assert.match((await fetchPage(closed.url)).text, /nobody listens there/);
});

test("an address that the model made up asks while others have a say, and one that was shown does not", async () => {
  await using site = await startSite((_, response) => html(response, "fine", "text/plain"));
  const others = { outside: ["a page"], knowsAddress: (url: string) => url === `${site.url}/known` };
  assert.match((await fetchPage(`${site.url}/?secret=1`, others)).text, /Nobody allowed/);
  assert.equal((await fetchPage(`${site.url}/known`, others)).text, "fine");
  assert.equal((await fetchPage(`${site.url}/?q=1`, { knowsAddress: () => false })).text, "fine");
});

test("a page that takes for ever to be read as one is given up", async () => {
  const page = `<html><body>${"<div><p>".repeat(60_000)}`;
  await using site = await startSite((_, response) => html(response, page));
  assert.match((await fetchPage(site.url, { timeoutMs: 1000 })).text, /too large or too tangled/);
});

test("both web tools together cost the model at most 500 characters", () => {
  const search = webSearchTool({ provider: "duckduckgo", maxResults: 5, timeoutMs: 1000, userAgent: "" });
  const cost = [toolOf({}), search].map(({ name, description, input }) =>
    JSON.stringify({ name, description, inputSchema: toInputSchema(input) }),
  );
  assert.ok(cost.join("").length <= 500, String(cost.join("").length));
});

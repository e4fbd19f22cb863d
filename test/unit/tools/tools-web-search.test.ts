import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import type { ToolResult } from "../../../src/tools/tool.js";
import { type WebSearchOptions, webSearchTool } from "../../../src/tools/web/web-search.js";
import { startSite, type WebSite } from "../../support/fakes/web-site.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

async function search(site: WebSite, options: Partial<WebSearchOptions>, input: object = {}): Promise<ToolResult> {
  using place = createToolPlace();
  const defaults = {
    provider: "duckduckgo",
    apiBase: `${site.url}/`,
    maxResults: 2,
    timeoutMs: 10_000,
    userAgent: "test",
  } as const;
  return await place.run(webSearchTool({ ...defaults, ...options }), { query: "猫 & dogs", ...input });
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

const expected =
  "1. Cats & dogs\nhttps://cats.example/a?b=1\nThey live together\n\n2. https://dogs.example/\nhttps://dogs.example/";

test("Brave is asked with its key, and its marks are taken away", async () => {
  const results = [
    { title: "Cats &amp; dogs", url: "https://cats.example/a?b=1", description: "They <strong>live</strong> together" },
    { title: "", url: "https://dogs.example/" },
    { title: "third", url: "https://third.example/" },
  ];
  await using site = await startSite((_, response) => json(response, { web: { results } }));
  const result = await search(site, { provider: "brave", apiKey: "key-of-brave" });
  assert.equal(result.text, expected);
  assert.equal(result.outside, "a web search with brave");
  assert.equal(site.requests[0]?.headers["x-subscription-token"], "key-of-brave");
  const url = new URL(site.requests[0]?.path ?? "", site.url);
  assert.deepEqual(
    [url.pathname, url.searchParams.get("q"), url.searchParams.get("count")],
    ["/web/search", "猫 & dogs", "2"],
  );
  assert.match((await search(site, { provider: "brave" }, { count: 3 })).text, /3\. third/);
});

test("SearXNG is asked for JSON under the address of the config, a private one too", async () => {
  const results = [
    { title: "Cats & dogs", url: "https://cats.example/a?b=1", content: "They live together" },
    { title: "", url: "https://dogs.example/", content: null },
  ];
  await using site = await startSite((_, response) => json(response, { query: "x", results }));
  assert.equal((await search(site, { provider: "searxng" })).text, expected);
  const url = new URL(site.requests[0]?.path ?? "", site.url);
  assert.deepEqual([url.pathname, url.searchParams.get("format")], ["/search", "json"]);
});

test("DuckDuckGo's page is read without its advertisements", async () => {
  const result = (classes: string, href: string, title: string, text: string): string =>
    `<div class="result results_links ${classes}"><h2 class="result__title"><a class="result__a" href="${href}">${title}</a></h2><a class="result__snippet" href="${href}">${text}</a></div>`;
  const to = (url: string): string => `//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=abc`;
  const page = `<html><body><div id="links" class="results">
    ${result("result--ad", "https://duckduckgo.com/y.js?ad_provider=x", "Buy", "now")}
    ${result("web-result", to("https://cats.example/a?b=1"), "Cats &amp; <b>dogs</b>", "They <b>live</b>\n together")}
    ${result("web-result", to("https://dogs.example/"), "", "")}
    ${result("web-result", "javascript:alert(1)", "evil", "")}</div></body></html>`;
  await using site = await startSite((_, response) => response.end(page));
  assert.equal((await search(site, {})).text, expected);
  assert.equal(site.requests[0]?.path, `/html/?${new URLSearchParams({ q: "猫 & dogs" })}`);
});

test("refusals, robots checks, nonsense and silence are sentences that say what to do", async () => {
  let answer: (response: ServerResponse) => void = () => {};
  await using site = await startSite((_, response) => answer(response));
  const text = async (provider: WebSearchOptions["provider"], respond: typeof answer): Promise<string> => {
    answer = respond;
    const result = await search(site, { provider, timeoutMs: 2000 });
    assert.equal(result.isError, true);
    return result.text;
  };
  assert.match(await text("brave", (response) => json(response, {}, 401)), /apiKey/);
  assert.match(await text("brave", (response) => json(response, {}, 429)), /too often/);
  assert.match(await text("brave", (response) => response.end("<html>")), /did not answer with a list of results/);
  assert.match(await text("searxng", (response) => json(response, {}, 403)), /format json/);
  assert.match(
    await text("duckduckgo", (response) => response.writeHead(202).end("<div class=anomaly-modal>")),
    /robot/,
  );
  assert.match(await text("duckduckgo", () => {}), /did not answer within 2 seconds/);
  answer = (response) => response.end('<div id="links"><div class="no-results">none</div></div>');
  assert.equal((await search(site, {})).text, "Nothing was found.");
});

test("a redirect to another host gets neither the key nor the query", async () => {
  await using other = await startSite((_, response) => response.end());
  await using site = await startSite((_, response) =>
    response.writeHead(302, { location: `${other.url}/steal` }).end(),
  );
  assert.equal((await search(site, { provider: "brave", apiKey: "secret" })).isError, true);
  assert.equal(other.requests.length, 0);
});

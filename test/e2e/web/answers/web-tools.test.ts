import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { tempFolder } from "../../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { articlePage, startSite } from "../../../support/fakes/web-site.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";
import type { RecordedRequest } from "../../../support/worlds/model-script.js";

const offered = z.object({ tools: z.array(z.object({ function: z.object({ name: z.string() }) })) });

function webToolsIn(request: RecordedRequest | undefined): readonly string[] {
  const { tools } = offered.parse(JSON.parse(request?.bodyText ?? "{}"));
  return tools.map((tool) => tool.function.name).filter((name) => /^web_|^browser$/.test(name));
}

test("tools that cannot work or are switched off are not offered, and status says why", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  const look = async (tools: unknown) => {
    await using gateway = await startGateway({ config: openAIConfig(model.apiBase, { tools }) });
    await gateway.ask("hello");
    const { missing, problems } = await gateway.gateway.api.status();
    return { names: webToolsIn(model.requests.at(-1)), missing: missing.join("\n"), problems: problems.join("\n") };
  };
  const nowhere = await look({ browser: { executablePath: "/nowhere/chromium" } });
  assert.deepEqual(nowhere.names, ["web_fetch", "web_search"]);
  assert.match(nowhere.missing, /browser is not offered: there is no \/nowhere\/chromium/);
  const off = await look({
    web: { search: { provider: "off" }, fetch: { mode: "off" } },
    browser: { enabled: false },
  });
  assert.deepEqual([off.names, off.missing, off.problems], [[], "", ""]);
  const wrong = await look({
    web: { search: { provider: "searxng" }, fetch: { allow: ["http://x"] } },
    browser: { enabled: false },
  });
  assert.deepEqual(wrong.names, ["web_fetch"]);
  assert.match(wrong.problems, /searxng needs apiBase/);
  assert.match(wrong.problems, /fetch\.allow: http:\/\/x is not a host/);
});

test("status says that a browser was installed while the gateway runs, and what to do", async (t) => {
  const executablePath = join(tempFolder(t), "chromium");
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  await using gateway = await startGateway({
    config: openAIConfig(model.apiBase, { tools: { browser: { executablePath } } }),
  });
  const missing = async () => (await gateway.gateway.api.status()).missing.join("\n");
  assert.match(await missing(), /browser is not offered: there is no /);
  await writeFile(executablePath, "");
  assert.equal(await missing(), "browser is there now: restart the gateway to use it");
});

test("a page is material: fenced for the model, and after it an address that the model makes up asks", async () => {
  await using site = await startSite((_, response) => response.end(articlePage("News", '<a href="/named">more</a>')));
  const fetching = (id: string, path: string) => ({
    toolCalls: [{ id, name: "web_fetch", input: { url: site.url + path } }],
  });
  await using model = await startFakeOpenAI({
    answer: [fetching("a", "/made/up"), fetching("b", "/named"), fetching("c", "/?secret=42"), { text: "done" }],
  });
  const config = openAIConfig(model.apiBase, {
    tools: { web: { fetch: { allow: [site.host] } }, browser: { enabled: false } },
    policy: { answerSeconds: 1 },
  });
  await using gateway = await startGateway({ config });
  assert.equal((await gateway.ask("what is new?")).response, "done");
  assert.deepEqual(
    site.requests.map(({ path }) => path),
    ["/made/up", "/named"],
  );
  const asked = (await gateway.events()).flatMap((event) =>
    event.type === "human_input_asked" ? [event.payload] : [],
  );
  assert.equal(asked.length, 1);
  assert.match(asked[0]?.question ?? "", /secret=42.*text that others wrote/s);
  assert.match(model.requests[1]?.bodyText ?? "", /<untrusted source=\\"http:\/\/127\.0\.0\.1/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../support/engine-kit.js";
import { startFakeOpenAI } from "../support/fake-openai.js";
import { openAIConfig, startGateway } from "../support/gateway.js";
import { badServer } from "../support/mcp.js";
import { readSources } from "../support/source-code.js";

/** Everything that adds a tool is switched on here. */
const everything = { tools: { mcpServers: { many: badServer("many") } } };

/** The names of all tools that the program itself brings, as they stand in its source. */
function builtinNames(): readonly string[] {
  const defined = /defineTool\(\{\s*name: "([a-z0-9_]+)"/g;
  return readSources("src").flatMap(({ code }) => [...code.matchAll(defined)].map(([, name = ""]) => name));
}

test("the request for hello holds every built-in tool, with a server of 100 tools beside, in 8 kB", async (t) => {
  await using model = await startFakeOpenAI({ answer: { text: "hi" } });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase, everything) });
  const servers = () => gateway.gateway.api.mcp?.list() ?? [];
  await until("the server is connected", () => servers().every(({ tools }) => tools.length === 100), 20_000);
  await gateway.ask("hello");
  const { bodyText = "", body } = model.requests[0] ?? {};
  const tools = (body?.tools ?? []) as readonly { readonly function: { readonly name: string } }[];
  const offered = new Map(tools.map((tool) => [tool.function.name, Buffer.byteLength(JSON.stringify(tool))]));
  const names = builtinNames();
  assert.ok(names.length >= 10, names.join(" "));
  assert.deepEqual(
    names.filter((name) => !offered.has(name)),
    [],
    "built-in tools that this test does not switch on",
  );
  const bytes = Buffer.byteLength(bodyText);
  t.diagnostic(`${bytes} bytes; ${[...offered].map(([name, size]) => `${name} ${size}`).join(", ")}`);
  assert.ok(bytes > 500 && bytes <= 8192, `${bytes} bytes`);
});

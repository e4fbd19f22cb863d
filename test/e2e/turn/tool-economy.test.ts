import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { readSources } from "../../support/rules/source-code.js";
import { openAIConfig, startGateway } from "../../support/worlds/gateway.js";
import { badServer } from "../../support/worlds/tools/mcp.js";

/** Everything that adds a tool is switched on here. */
const everything = { tools: { mcpServers: { many: badServer("many") } } };

/** The names of all tools that the program itself brings, as they are in its source. */
function builtinNames(): readonly string[] {
  const defined = /defineTool\(\{\s*name: "([a-z0-9_]+)"/g;
  return readSources("src").flatMap(({ code }) => [...code.matchAll(defined)].map(([, name = ""]) => name));
}

test("the request for hello holds every built-in tool in 8 kB, and a server of 100 tools adds half a kB", async (t) => {
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
  // These two stand in for all tools of servers.
  const search = (offered.get("find_tools") ?? 0) + (offered.get("call_tool") ?? 0);
  const bytes = Buffer.byteLength(bodyText) - search;
  t.diagnostic(`${bytes} bytes; ${[...offered].map(([name, size]) => `${name} ${size}`).join(", ")}`);
  assert.ok(bytes > 500 && bytes <= 8192, `${bytes} bytes`);
  assert.ok(search > 100 && search <= 600, `${search} bytes`);
});

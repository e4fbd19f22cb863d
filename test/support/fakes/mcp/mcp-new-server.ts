// An MCP server made with the SDK's own server package: `stdio` or `http PORT`, and `reject` (speaks 2026-07-28 alone) or
// `serve` (older revisions as well). What it is told goes to the file in TRACE.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import {
  type CallToolResult,
  createMcpHandler,
  type ElicitInputParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [how = "stdio", legacy = "reject", port = "0"] = process.argv.slice(2);
const trace = (line: string): void => {
  if (process.env.TRACE !== undefined) appendFileSync(process.env.TRACE, `${line}\n`);
};
const said = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });
const state = { isGrown: false };
const grown = new Set<() => void>();

/** Asks, and says the result. Round by round: what was answered before is in `earlier`. */
function asked(
  context: ServerContext,
  request: ReturnType<typeof inputRequired.elicit>,
): CallToolResult | InputRequiredResult {
  const answer = inputResponse(context.mcpReq.inputResponses, "question");
  if (answer.kind === "missing") return inputRequired({ inputRequests: { question: request } });
  trace(`answered ${JSON.stringify(answer)}`);
  return said(answer.kind === "elicit" ? `${answer.action} ${JSON.stringify(answer.content ?? null)}` : answer.kind);
}

function create(): McpServer {
  const server = new McpServer({ name: "new", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  server.registerTool("say", { description: "says it", inputSchema: z.object({ text: z.string() }) }, ({ text }) =>
    said(text),
  );
  const named = z.object({ city: z.string().meta({ "x-mcp-header": "City" }) });
  server.registerTool("city", { description: "by a header", inputSchema: named }, ({ city }) => said(city));
  server.registerTool("slow", { description: "never answers", inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    trace("slow");
    await new Promise<void>((resolve) => mcpReq.signal.addEventListener("abort", () => resolve()));
    trace("cancelled");
    return said("too late");
  });
  server.registerTool("die", { description: "ends", inputSchema: z.object({}) }, () => process.exit(3));
  const schema = z.object({ message: z.string(), schema: z.string() });
  server.registerTool("ask", { description: "asks", inputSchema: schema }, ({ message, schema: asks }, context) => {
    trace("asks");
    // What the test wrote, as it is: also what no server should ask.
    const requestedSchema = JSON.parse(asks) as Extract<ElicitInputParams["requestedSchema"], { type: "object" }>;
    return asked(context, inputRequired.elicit({ message, requestedSchema }));
  });
  const page = z.object({ message: z.string(), url: z.string() });
  server.registerTool("send", { description: "shows a page", inputSchema: page }, (params, context) =>
    asked(context, inputRequired.elicitUrl(params)),
  );
  if (state.isGrown)
    server.registerTool("grown", { description: "new", inputSchema: z.object({}) }, () => said("as new"));
  server.registerTool("grow", { description: "gets another tool", inputSchema: z.object({}) }, () => {
    state.isGrown = true;
    for (const tell of grown) tell();
    if (how === "stdio")
      server.registerTool("grown", { description: "new", inputSchema: z.object({}) }, () => said("as new"));
    return said("grown");
  });
  return server;
}

trace("started");
if (how === "stdio") serveStdio(create, { legacy: legacy === "serve" ? "serve" : "reject" });
else {
  const handler = createMcpHandler(create, { legacy: legacy === "serve" ? "stateless" : "reject" });
  grown.add(() => handler.notify.toolsChanged());
  createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const leaving = new AbortController();
    response.once("close", () => leaving.abort());
    const { method = "GET", headers } = request;
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method,
        headers: Object.entries(headers).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, String(value)]],
        ),
        signal: leaving.signal,
        ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    try {
      for await (const chunk of answer.body ?? []) response.write(chunk);
    } catch {
      // The client has gone.
    }
    response.end();
  }).listen(Number(port), "127.0.0.1", () => process.stderr.write("listening\n"));
}

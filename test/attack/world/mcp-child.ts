// An MCP server that writes down what it is called with, and says what is in a file. With `die` it tells its
// environment on its way out.
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [callsFile = "", saysFile = "", how = "live"] = process.argv.slice(2);
const send = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly arguments?: unknown; readonly protocolVersion?: string };
}

function answer({ id, method, params = {} }: Request): void {
  if (id === undefined) return;
  if (method === "initialize") {
    const { protocolVersion } = params;
    send({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "outer", version: "1" } },
    });
  } else if (method === "tools/list") {
    const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    send({ id, result: { tools: [{ name: "note", description: "Keeps a note elsewhere.", inputSchema }] } });
  } else if (method === "tools/call") {
    appendFileSync(callsFile, `${JSON.stringify(params.arguments ?? {})}\n`);
    if (how === "die") {
      process.stderr.write(`Error: cannot log in with ${process.env.OUTER_KEY ?? "nothing"}\n`);
      process.exitCode = 3;
      process.stdin.destroy();
      return;
    }
    send({ id, result: { content: [{ type: "text", text: readFileSync(saysFile, "utf8") }] } });
  } else send({ id, result: {} });
}

createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line) as Request));

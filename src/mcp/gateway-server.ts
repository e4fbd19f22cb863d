import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { messageOf } from "../errors.js";

// An argument that is not known is refused: left out, `chat_id` would send a text to another chat than the one meant.

/** What other programs can do with a gateway. Each throws with a sentence for the one who asked. */
export interface GatewayPorts {
  send(session: string, text: string, signal: AbortSignal): Promise<string>;
  sessions(limit: number): Promise<unknown>;
  events(session: string, after: number, limit: number): Promise<unknown>;
}

/** Offers a gateway as an MCP server on stdin and stdout, until the client goes away. */
export async function serveGateway(version: string, gateway: GatewayPorts): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
  });
  // It speaks the newest revision and the older ones, as the other end begins.
  const served = serveStdio(() => createGatewayServer(version, gateway));
  await gone;
  await served.close();
}

function createGatewayServer(version: string, gateway: GatewayPorts): McpServer {
  const server = new McpServer({ name: "maxclaw", version });
  server.registerTool(
    "send_message",
    {
      description: "Send a message to the assistant and wait for its answer.",
      inputSchema: z.strictObject({ text: z.string().min(1), session: z.string().default("cli:mcp") }),
    },
    ({ text, session }, { mcpReq }) => answerOf(() => gateway.send(session, text, mcpReq.signal)),
  );
  server.registerTool(
    "list_sessions",
    {
      description: "List the assistant's conversations, newest first.",
      inputSchema: z.strictObject({ limit: z.number().int().min(1).max(200).default(20) }),
      annotations: { readOnlyHint: true },
    },
    ({ limit }) => answerOf(() => gateway.sessions(limit)),
  );
  server.registerTool(
    "read_events",
    {
      description: "Read what happened in a conversation, from a sequence number on.",
      inputSchema: z.strictObject({
        session: z.string(),
        after: z.number().int().min(0).default(0),
        limit: z.number().int().min(1).max(1000).default(100),
      }),
      annotations: { readOnlyHint: true },
    },
    ({ session, after, limit }) => answerOf(() => gateway.events(session, after, limit)),
  );
  return server;
}

async function answerOf(work: () => Promise<unknown>) {
  const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
  try {
    return { content: [{ type: "text" as const, text: text(await work()) }] };
  } catch (error) {
    return { content: [{ type: "text" as const, text: messageOf(error) }], isError: true };
  }
}

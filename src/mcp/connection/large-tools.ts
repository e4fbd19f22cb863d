import { isJSONRPCResultResponse, type JSONRPCMessage, type Tool as ToolInfo } from "@modelcontextprotocol/client";

/** Of one tool with its schemas. */
const maxToolChars = 64_000;
const mark = "maxclaw/too-large";

/**
 * A message, in which tools that are too large or too deep are only names: the client could not read a deep
 * one, and would give up the whole list for it.
 */
export function withoutLargeTools(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCResultResponse(message)) return message;
  const { tools } = message.result;
  if (!Array.isArray(tools) || !tools.some(isTooLarge)) return message;
  return {
    ...message,
    result: { ...message.result, tools: tools.map((tool) => (isTooLarge(tool) ? nameOf(tool) : tool)) },
  };
}

/** Nothing but its name is left of it. */
export function wasTooLarge({ _meta: meta }: ToolInfo): boolean {
  return meta?.[mark] === true;
}

function isTooLarge(tool: unknown): boolean {
  try {
    return (JSON.stringify(tool) ?? "").length > maxToolChars;
  } catch {
    // Nested deeper than can be written again, which would fail each request that offers it.
    return true;
  }
}

function nameOf(tool: unknown): ToolInfo {
  const name = typeof tool === "object" && tool !== null && "name" in tool ? String(tool.name) : "?";
  return { name, inputSchema: { type: "object" }, _meta: { [mark]: true } };
}

import type { Client, Tool as ToolInfo } from "@modelcontextprotocol/client";
import { cutText } from "../../util/text/cut-text.js";
import { wasTooLarge } from "./large-tools.js";

const maxTools = 1000;
const maxPages = 50;

/** What a server offers. */
export interface ServerCatalog {
  readonly tools: readonly ToolInfo[];
  /** Names of tools that are too large to be offered. */
  readonly tooLarge: readonly string[];
  readonly hasResources: boolean;
  readonly hasPrompts: boolean;
}

/** All pages of its tools, within bounds. */
export async function readCatalog(client: Client, timeout: number, signal: AbortSignal): Promise<ServerCatalog> {
  const capabilities = client.getServerCapabilities() ?? {};
  const tools: ToolInfo[] = [];
  const tooLarge: string[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; capabilities.tools !== undefined && page < maxPages && tools.length < maxTools; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.request({ method: "tools/list", params }, { timeout, signal });
    const fresh = result.tools.filter(({ name }) => !seen.has(name) && seen.add(name));
    for (const tool of fresh) {
      if (wasTooLarge(tool)) tooLarge.push(cutText(tool.name, 80));
      else if (tool.execution?.taskSupport !== "required") tools.push(tool);
    }
    cursor = result.nextCursor;
    // Some servers give the first page for every cursor.
    if (cursor === undefined || fresh.length === 0) break;
  }
  return {
    tools: tools.slice(0, maxTools),
    tooLarge: tooLarge.slice(0, 10),
    hasResources: capabilities.resources !== undefined,
    hasPrompts: capabilities.prompts !== undefined,
  };
}

import { createRequire } from "node:module";
import type { Config } from "../config/schema.js";
import type { Tool } from "../tools/tool.js";
import type { Egress } from "../tools/web/egress.js";
import { type RenderPage, webFetchTool } from "../tools/web/web-fetch.js";
import { webSearchTool } from "../tools/web/web-search.js";

export interface WebTools {
  readonly tools: readonly Tool[];
  /** What is not offered or does less than it could, and what to install. */
  readonly missing: readonly string[];
  readonly problems: readonly string[];
}

const require = createRequire(import.meta.url);

/** True when an optional package is installed. Loads nothing. */
export function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** The web tools that the config wants and this installation can offer. */
export function createWebTools(
  { web }: Config["tools"],
  { version, egress, render }: { version: string; egress: Egress; render: RenderPage | undefined },
): WebTools {
  const { search, fetch } = web;
  const tools: Tool[] = [];
  const missing: string[] = [];
  const problems: string[] = [];
  const userAgent = fetch.userAgent ?? `Mozilla/5.0 (compatible; maxclaw/${version})`;
  const timeoutMs = fetch.timeout * 1000;

  const provider = search.provider ?? defaultProvider(search);
  if (provider === "searxng" && search.apiBase === undefined)
    problems.push("tools.web.search: searxng needs apiBase, the address of your server; web_search is off.");
  else if (provider === "brave" && search.apiKey === undefined)
    problems.push("tools.web.search: brave needs apiKey; web_search is off.");
  else if (provider === "duckduckgo" && !isInstalled("htmlparser2"))
    missing.push(notInstalled("web_search", "htmlparser2"));
  else if (provider !== "off") {
    const { apiKey, apiBase, maxResults } = search;
    tools.push(webSearchTool({ provider, apiKey, apiBase, maxResults, timeoutMs, userAgent }));
  }

  const needed = ["linkedom", "@mozilla/readability", "turndown", "@joplin/turndown-plugin-gfm"];
  const absent = needed.filter((name) => !isInstalled(name));
  if (fetch.mode !== "off" && absent.length > 0) missing.push(notInstalled("web_fetch", absent.join(" ")));
  else if (fetch.mode !== "off") tools.push(webFetchTool({ egress, timeoutMs, userAgent, mode: fetch.mode, render }));
  return { tools, missing, problems };
}

function defaultProvider({ apiKey, apiBase }: Config["tools"]["web"]["search"]): "brave" | "searxng" | "duckduckgo" {
  if (apiKey !== undefined) return "brave";
  return apiBase === undefined ? "duckduckgo" : "searxng";
}

export function notInstalled(tool: string, packages: string): string {
  return `${tool} is not offered: npm install ${packages}`;
}

import type { Egress } from "../../policy/locations/egress.js";
import type { ToolFamily } from "../family.js";
import type { Tool } from "../tool.js";
import { type RenderPage, webFetchTool } from "./web-fetch.js";
import { webSearchTool } from "./web-search.js";

/** The section `tools.web` of the config. */
export interface WebSettings {
  readonly search: {
    readonly provider?: "brave" | "searxng" | "duckduckgo" | "off" | undefined;
    readonly apiKey?: string | undefined;
    readonly apiBase?: string | undefined;
    readonly maxResults: number;
  };
  readonly fetch: {
    readonly mode: Parameters<typeof webFetchTool>[0]["mode"] | "off";
    /** In seconds. */
    readonly timeout: number;
    readonly userAgent?: string | undefined;
  };
}

export interface WebScope {
  readonly version: string;
  readonly egress: Egress;
  /** Reads a page with a browser; undefined while there is none. */
  readonly render: RenderPage | undefined;
  /** Where packages may have been added. */
  readonly home: string;
}

type Offer = Required<Pick<ToolFamily, "tools" | "problems">>;

/** The web tools that the config wants and this installation can offer. Their code for it is loaded when it is used. */
export function openWeb({ search, fetch }: WebSettings, { version, egress, render, home }: WebScope): Offer {
  const userAgent = fetch.userAgent ?? `Mozilla/5.0 (compatible; maxclaw/${version})`;
  const timeoutMs = fetch.timeout * 1000;
  const offers = [offerSearch(search, { timeoutMs, userAgent })];
  if (fetch.mode !== "off")
    offers.push(offered(webFetchTool({ egress, timeoutMs, userAgent, mode: fetch.mode, render, home })));
  return {
    tools: offers.flatMap(({ tools }) => tools),
    problems: offers.flatMap(({ problems }) => problems),
  };
}

function offerSearch(search: WebSettings["search"], how: { timeoutMs: number; userAgent: string }): Offer {
  const { apiKey, apiBase, maxResults } = search;
  const provider = search.provider ?? defaultProvider(search);
  if (provider === "off") return nothing;
  if (provider === "searxng" && apiBase === undefined)
    return wrong("tools.web.search: searxng needs apiBase, the address of your server; web_search is off.");
  if (provider === "brave" && apiKey === undefined)
    return wrong("tools.web.search: brave needs apiKey; web_search is off.");
  return offered(webSearchTool({ provider, apiKey, apiBase, maxResults, ...how }));
}

function defaultProvider({ apiKey, apiBase }: WebSettings["search"]): "brave" | "searxng" | "duckduckgo" {
  if (apiKey !== undefined) return "brave";
  return apiBase === undefined ? "duckduckgo" : "searxng";
}

const nothing: Offer = { tools: [], problems: [] };
const offered = (tool: Tool): Offer => ({ ...nothing, tools: [tool] });
const wrong = (sentence: string): Offer => ({ ...nothing, problems: [sentence] });

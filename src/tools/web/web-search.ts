import { z } from "zod";
import { createAddressPolicy } from "../../policy/locations/addresses.js";
import { createEgress, EgressError } from "../../policy/locations/egress.js";
import { cutText } from "../../util/text/cut-text.js";
import { withoutSlashes } from "../../util/text/trim-where.js";
import { defineTool, failed, type Tool } from "../tool.js";
import { portOf, requestPage } from "./request.js";
import { type SearchResult, searchServices } from "./search-services.js";

export interface WebSearchOptions {
  readonly provider: keyof typeof searchServices;
  readonly apiKey?: string | undefined;
  /** Another address of the service; SearXNG has no other. */
  readonly apiBase?: string | undefined;
  readonly maxResults: number;
  readonly timeoutMs: number;
  readonly userAgent: string;
}

const maxBytes = 2 * 1024 * 1024;

const input = z.object({ query: z.string().min(1).max(400), count: z.int().min(1).max(20).optional() });

export function webSearchTool(options: WebSearchOptions): Tool {
  return defineTool({
    name: "web_search",
    description: "Search the web.",
    input,
    effect: "read",
    risk: "access",
    origin: "builtin",

    async run({ query, count = options.maxResults }, context) {
      const service = searchServices[options.provider];
      const base = withoutSlashes(options.apiBase ?? service.apiBase ?? "");
      const url = service.url(base, query, count);
      const refusal = await context.permit({ kind: "network", url, sends: false });
      if (refusal !== undefined) return failed(refusal, "nothing was searched for");
      try {
        const results = await search(url, options, context.signal);
        const shown = results.slice(0, count).map(toText);
        return {
          text: shown.join("\n\n") || "Nothing was found.",
          isError: false,
          summary: `found ${shown.length} ${shown.length === 1 ? "page" : "pages"}`,
          // Without the query: it would look like something that others wrote.
          outside: `a web search with ${options.provider}`,
          addresses: "text",
        };
      } catch (error) {
        if (error instanceof EgressError) return failed(error.message, "the search failed");
        throw error;
      }
    },
  });
}

/** Who runs the gateway has named the service, so that its own address is open, wherever it is. */
async function search(url: string, options: WebSearchOptions, signal: AbortSignal): Promise<readonly SearchResult[]> {
  const service = searchServices[options.provider];
  const { host, hostname } = new URL(url);
  const egress = createEgress(createAddressPolicy([`${hostname}:${portOf(new URL(url))}`]));
  const headers = { "user-agent": options.userAgent, ...service.headers(options.apiKey) };
  const { timeoutMs } = options;
  // A key goes nowhere but to its own service.
  const mayFollow = (next: string): boolean => new URL(next).host === host;
  const { status, body } = await requestPage({ url, headers, timeoutMs, maxBytes, mayFollow }, egress, signal);
  if (status === 401 || status === 403)
    throw new EgressError(`${options.provider} refuses the search (status ${status}): ${hints[options.provider]}.`);
  if (status === 429) throw new EgressError(`${options.provider} is asked too often; try again later.`);
  const results = status === 200 ? await service.read(body.toString("utf8")) : undefined;
  if (results !== undefined) return results;
  throw new EgressError(
    options.provider === "duckduckgo"
      ? "DuckDuckGo thinks this is a robot and gives no results; try again later, or set tools.web.search to another provider."
      : `${options.provider} did not answer with a list of results (status ${status}): ${hints[options.provider]}.`,
  );
}

const hints = {
  brave: "check tools.web.search.apiKey",
  searxng: "its settings.yml must allow the format json",
  duckduckgo: "it thinks this is a robot",
} as const;

function toText({ title, url, text }: SearchResult, index: number): string {
  return `${index + 1}. ${title || url}\n${url}${text === "" ? "" : `\n${cutText(text, 500)}`}`;
}

import { z } from "zod";
import { type Egress, EgressError } from "../../policy/locations/egress.js";
import { defineTool, failed, type Tool, type ToolContext, type ToolConversation } from "../tool.js";
import { htmlContent, type PageContent, readContent } from "./page-content.js";
import { requestPage, toWebAddress } from "./request.js";

export interface RenderedPage {
  readonly html: string;
  /** Where redirects and scripts led. */
  readonly url: string;
  readonly status: number;
}

/** Opens a page in a browser and gives the HTML that is there in the end. */
export type RenderPage = (url: string, context: ToolContext) => Promise<RenderedPage>;

export interface WebFetchOptions {
  readonly egress: Egress;
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** `auto`: a browser where there is nothing to read without one. */
  readonly mode: "auto" | "http" | "chrome";
  /** Absent where there is no browser. */
  readonly render?: RenderPage | undefined;
  /** Where packages may have been added. */
  readonly home?: string | undefined;
}

const maxBytes = 5 * 1024 * 1024;

interface FetchedPage extends PageContent {
  readonly url: string;
  readonly status: number;
  readonly isCut: boolean;
}

const input = z.object({ url: z.string(), mode: z.enum(["http", "chrome"]).optional() });

export function webFetchTool(options: WebFetchOptions): Tool {
  return defineTool({
    name: "web_fetch",
    description: "Read a web page as Markdown.",
    input,
    effect: "read",
    risk: "access",
    origin: "builtin",

    async run({ url, mode }, context) {
      try {
        const address = toWebAddress(url.trim()).href;
        const refusal = await context.permit(visit(address, context.conversation));
        if (refusal !== undefined) return failed(refusal, "the page was not opened");
        const page = await fetchPage(address, mode ?? options.mode, options, context);
        const notes = [
          page.title === "" ? "" : `# ${page.title}`,
          page.url === address ? "" : `[redirected to ${page.url}]`,
          page.status >= 400 ? `[the server answers with status ${page.status}]` : "",
          page.isCut ? "[only its first 5 MB]" : "",
          page.text === "" ? "[the page is empty]" : "",
        ].filter((note) => note !== "");
        return {
          text: [...notes, page.text].join("\n\n").trim(),
          isError: page.status >= 400,
          summary: `read ${address.slice(0, 100)} (${page.text.length} characters)`,
          outside: page.url,
          addresses: "text",
          visited: address,
        };
      } catch (error) {
        if (error instanceof EgressError) return failed(error.message, "the page was not read");
        throw error;
      }
    },
  });
}

/** What the bundled weather skill reads. Nobody who writes for the assistant to read it sees what is asked there. */
const weatherService = /^https:\/\/(?:geocoding-)?api\.open-meteo\.com\//;

/** A visit to an address for policy: what nobody but the model has named could carry something out in itself. */
export function visit(url: string, { knowsAddress }: Pick<ToolConversation, "knowsAddress">) {
  const isKnown = weatherService.test(url) || knowsAddress(url);
  return isKnown
    ? ({ kind: "network", url, sends: false } as const)
    : ({ kind: "network", url, sends: true, isAddressOnly: true } as const);
}

async function fetchPage(
  url: string,
  mode: WebFetchOptions["mode"],
  options: WebFetchOptions,
  context: ToolContext,
): Promise<FetchedPage> {
  if (mode === "chrome") {
    if (options.render === undefined) throw new EgressError(noBrowser);
    return await renderPage(url, options.render, options, context);
  }
  const { egress, timeoutMs, userAgent, render, home } = options;
  const mayFollow = (next: string): boolean => context.permissions.allows({ kind: "network", url: next, sends: false });
  const headers = { "user-agent": userAgent, accept: "text/html,*/*;q=0.8", "accept-language": "en;q=0.8,*;q=0.5" };
  const response = await requestPage({ url, headers, timeoutMs, maxBytes, mayFollow }, egress, context.signal);
  const { status, isCut } = response;
  const content = await readContent(response, { timeoutMs, home }, context.signal);
  const plain = { ...content, url: response.url, status, isCut };
  if (mode === "http" || !content.isEmpty || render === undefined) return plain;
  try {
    const rendered = await renderPage(url, render, options, context);
    return rendered.text.length > content.text.length ? rendered : plain;
  } catch (error) {
    if (error instanceof EgressError) return plain;
    throw error;
  }
}

const noBrowser =
  "There is no browser here: install Chromium, run `maxclaw add browser` and restart, or fetch without mode.";

async function renderPage(
  url: string,
  render: RenderPage,
  options: WebFetchOptions,
  context: ToolContext,
): Promise<FetchedPage> {
  const rendered = await render(url, context);
  const content = await htmlContent(rendered.html, rendered.url, options.timeoutMs, context.signal);
  return { ...content, url: rendered.url, status: rendered.status, isCut: false };
}

import { type ExtractOptions, extractBytes } from "../../documents/extract-text.js";
import { documentKindOf } from "../../documents/kind.js";
import { EgressError } from "../../policy/locations/egress.js";
import { decodePage } from "./charset.js";
import { toReadable } from "./readable.js";
import type { PageResponse } from "./request.js";

export interface PageContent {
  readonly title: string;
  readonly text: string;
  /** Only a browser might find more. */
  readonly isEmpty: boolean;
}

/**
 * What there is to read in an answer: HTML as Markdown, the text of documents, other text as it is.
 *
 * @throws {EgressError} with a sentence for what is not text
 */
export async function readContent(
  page: PageResponse,
  { timeoutMs, home }: { readonly timeoutMs: number; readonly home?: string | undefined },
  signal: AbortSignal,
): Promise<PageContent> {
  const contentType = page.headers["content-type"] ?? "";
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  if (documentKindOf(page.body) !== undefined)
    return { title: "", text: await documentText(page, { signal, home }), isEmpty: false };
  const isText = /^text\/|[/+](json|xml|javascript|yaml|x-ndjson)$/.test(type);
  if (!isText && (type !== "" || page.body.includes(0)))
    throw new EgressError(`${page.url} is ${type || "no text"} (${page.body.length} bytes), which cannot be read.`);
  const text = decodePage(page.body, contentType);
  const isHtml =
    /html/.test(type) || ((type === "" || type === "text/plain") && /^\s*<(!doctype html|html)/i.test(text));
  if (!isHtml) return { title: "", text: text.toWellFormed(), isEmpty: false };
  return await htmlContent(text, page.url, timeoutMs, signal);
}

/** The same for HTML that is there already. */
export async function htmlContent(
  html: string,
  url: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PageContent> {
  const readable = await toReadable(html, url, timeoutMs, signal);
  if (readable === undefined) throw new EgressError(`${url} is too large or too tangled to be read.`);
  return { title: readable.title, text: readable.markdown.toWellFormed(), isEmpty: readable.isEmpty };
}

async function documentText({ url, body, isCut }: PageResponse, options: ExtractOptions): Promise<string> {
  if (isCut) throw new EgressError(`${url} is a document that is too large to be read.`);
  const extraction = await extractBytes(body, options);
  if (!extraction.ok) throw new EgressError(`${url} ${extraction.sentence}`);
  return extraction.text;
}

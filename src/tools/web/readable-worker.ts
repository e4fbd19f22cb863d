import { parentPort, workerData } from "node:worker_threads";
import { gfm } from "@joplin/turndown-plugin-gfm";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";
import { z } from "zod";

const work = z.object({ html: z.string(), url: z.string() });
/** Fewer characters are not a page. */
const leastText = 200;
/** What is on a page besides what it says. */
const besides = "script,style,noscript,template,svg,iframe,form,nav,header,footer,aside,[hidden],[aria-hidden=true]";

/** The whole of a page's thread: HTML in, Markdown out. */
function toMarkdown(): unknown {
  const { html, url } = work.parse(workerData);
  const { document } = parseHTML(isDocument(html) ? html : `<html><body>${html}</body></html>`);
  const title = (document.title ?? "").trim();
  makeAbsolute(document, url);
  const whole = document.cloneNode(true);
  const article = new Readability(document, { charThreshold: leastText }).parse();
  const content = article?.content ?? "";
  const text = (article?.textContent ?? "").replace(/\s+/g, " ").trim();
  if (content !== "" && text.length >= leastText)
    return { title: article?.title?.trim() || title, markdown: markdownOf(content), isEmpty: false };
  for (const element of whole.querySelectorAll(besides)) element.remove();
  const body = whole.body?.innerHTML ?? "";
  const markdown = markdownOf(body);
  return { title, markdown, isEmpty: markdown.replace(/\s+/g, "").length < leastText };
}

function isDocument(html: string): boolean {
  return /<html[\s>]/i.test(html.slice(0, 4096)) || /<(head|body)[\s>]/i.test(html.slice(0, 4096));
}

type Page = ReturnType<typeof parseHTML>["document"];

/** Addresses on the page lead somewhere from here, and none of them runs anything. */
function makeAbsolute(document: Page, url: string): void {
  const base = document.querySelector("base")?.getAttribute("href") ?? "";
  const from = URL.canParse(base, url) ? new URL(base, url).href : url;
  for (const [selector, attribute] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const)
    for (const element of document.querySelectorAll(selector)) {
      const value = element.getAttribute(attribute) ?? "";
      const absolute = URL.canParse(value, from) ? new URL(value, from) : undefined;
      if (absolute !== undefined && ["http:", "https:", "mailto:"].includes(absolute.protocol))
        element.setAttribute(attribute, absolute.href);
      else element.removeAttribute(attribute);
    }
}

function markdownOf(html: string): string {
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  service.use(gfm);
  service.remove(["script", "style", "noscript", "iframe"]);
  // Pictures are worth their description only.
  service.addRule("pictures", {
    filter: "img",
    replacement: (_content, node) => {
      const alt = "getAttribute" in node ? (node.getAttribute("alt") ?? "").trim() : "";
      return alt === "" ? "" : `[picture: ${alt.slice(0, 200)}]`;
    },
  });
  return service
    .turndown(html)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

parentPort?.postMessage(toMarkdown());

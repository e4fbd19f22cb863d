import { toTelegramHtml } from "./telegram-html.js";

const page = "font-family:system-ui,sans-serif;font-size:15px;line-height:1.45";
const pre = "background:#f4f4f4;padding:8px;overflow-x:auto;font-family:monospace;font-size:13px";
const quote = "margin:4px 0;padding-left:10px;border-left:3px solid #ccc;color:#555";

/** Markdown as the plain HTML that all mail programs show: no scripts, no pictures, everything else escaped. */
export function toMailHtml(markdown: string): string {
  const body = toTelegramHtml(markdown)
    .split(/(?=<pre>)|(?<=<\/pre>)/)
    .map((part) => (part.startsWith("<pre>") ? part.replace("<pre>", `<pre style="${pre}">`) : flowing(part)))
    .join("");
  return `<!DOCTYPE html>\n<html><body><div style="${page}">${body}</div></body></html>\n`;
}

/** Line ends and the indent of lists would be lost in HTML. */
function flowing(html: string): string {
  return html
    .replace(/^ +/gm, (spaces) => "&nbsp;".repeat(spaces.length))
    .replaceAll("<blockquote>", `<blockquote style="${quote}">`)
    .replace(/\n/g, "<br>\n");
}

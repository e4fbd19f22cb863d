import createDOMPurify from "dompurify";
import { Marked, type Token } from "marked";
import { lexBounded, TooManySteps } from "../../channels/formatting/bounded-lexer.js";
import { h } from "../parts/dom.js";

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);

/** HTML in an answer is shown as the text it is, except for these, which models use where Markdown has no word. */
const harmlessTag = /^<\/?(br|sub|sup|kbd|mark|u)\s*\/?>$/i;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => (harmlessTag.test(text.trim()) ? text : escapeHtml(text)),
    // Nothing is fetched because an answer says so: an image is a link to it.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

const purify = createDOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName !== "A") return;
  const href = node.getAttribute("href") ?? "";
  if (/^(https?|mailto):/i.test(href)) {
    node.setAttribute("target", "_blank");
    // Instead of whatever the answer would have said there.
    node.setAttribute("title", href);
    node.setAttribute("rel", "noopener noreferrer");
  } else {
    // A relative address would lead into this page, where an answer has no business.
    node.removeAttribute("href");
  }
});

const allowed = {
  ALLOWED_TAGS: [
    ..."p br hr strong em del code pre blockquote ul ol li a h1 h2 h3 h4 h5 h6".split(" "),
    ..."table thead tbody tr th td sub sup kbd mark u".split(" "),
  ],
  ALLOWED_ATTR: ["href", "title", "start", "align", "class"],
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

interface Block {
  readonly raw: string;
  readonly element: HTMLElement;
}

/** Shows Markdown in `container`. Blocks whose source is unchanged stay as they are, so a growing text keeps selections. */
export function createMarkdownView(container: HTMLElement): (text: string) => void {
  let blocks: Block[] = [];
  let shown = "";
  return (text) => {
    if (text === shown) return;
    shown = text;
    const tokens = tokensOf(text);
    const visible = tokens.filter(({ type }) => type !== "space" && type !== "def");
    const next: Block[] = [];
    let isSame = true;
    for (const [index, token] of visible.entries()) {
      const old = blocks[index];
      isSame &&= old?.raw === token.raw;
      next.push(isSame && old !== undefined ? old : { raw: token.raw, element: renderBlock(token) });
    }
    for (const [index, { element }] of blocks.entries()) if (next[index]?.element !== element) element.remove();
    for (const { element } of next) if (element.parentNode !== container) container.append(element);
    blocks = next;
  };
}

/** What is built to stop the page is shown as it was written. */
function tokensOf(text: string): readonly Token[] {
  try {
    return lexBounded(text, marked.defaults).tokens;
  } catch (error) {
    if (!(error instanceof TooManySteps) && !(error instanceof RangeError)) throw error;
    const inner: Token = { type: "text", raw: text, text };
    return [{ type: "paragraph", raw: text, text, tokens: [inner] }];
  }
}

function renderBlock(token: Token): HTMLElement {
  const block = h("div", { class: "block" });
  block.append(purify.sanitize(marked.parser([token]), allowed));
  for (const pre of block.querySelectorAll("pre")) dressCode(pre);
  for (const table of block.querySelectorAll("table")) {
    const frame = h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Table" });
    table.replaceWith(frame);
    frame.append(table);
  }
  return block;
}

function dressCode(pre: HTMLPreElement): void {
  const language = /language-([\w+#.-]+)/.exec(pre.querySelector("code")?.className ?? "")?.[1] ?? "";
  const button = h("button", { type: "button", class: "copy", "aria-label": "Copy code" }, "Copy");
  button.addEventListener("click", () => {
    copyText(pre.textContent ?? "").then(
      () => flash(button, "Copied"),
      () => flash(button, "Copy failed"),
    );
  });
  const frame = h("div", { class: "code" }, h("div", { class: "code-head" }, h("span", {}, language), button));
  pre.replaceWith(frame);
  pre.tabIndex = 0;
  frame.append(pre);
}

function flash(button: HTMLButtonElement, text: string): void {
  button.textContent = text;
  setTimeout(() => {
    button.textContent = "Copy";
  }, 1500);
}

async function copyText(text: string): Promise<void> {
  // Over plain http from another machine the browser offers no clipboard to write to.
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = h("textarea", { class: "off-screen", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (!isCopied) throw new Error("The browser refused to copy");
}

import { h } from "../../parts/dom.js";
import { markdownWords } from "./words.js";

/** Gives a cleaned block what Markdown has no word for. Listeners are the view's: nodes of the block come and go. */
export function dress(block: HTMLElement): void {
  for (const pre of block.querySelectorAll("pre")) dressCode(pre);
  for (const table of block.querySelectorAll("table")) dressTable(table);
  for (const task of block.querySelectorAll(".task")) dressTask(task);
  for (const link of block.querySelectorAll<HTMLAnchorElement>("a.picture")) dressPicture(link);
  for (const label of block.querySelectorAll(".footnote-label")) dressNote(label);
  dressDirection(block);
}

/** Each paragraph, list and table runs in the direction of its own text. */
function dressDirection(parent: Element): void {
  for (const child of parent.children)
    if (child.nodeName === "DETAILS") dressDirection(child);
    else if (!child.matches(".code")) child.setAttribute("dir", "auto");
}

function dressCode(pre: HTMLPreElement): void {
  const language = languageOf(pre);
  const { t } = markdownWords;
  const button = h("button", { type: "button", class: "copy", "aria-label": t("copyCode") }, t("copy"));
  const frame = h("div", { class: "code" }, h("div", { class: "code-head" }, h("span", {}, language), button));
  pre.replaceWith(frame);
  pre.tabIndex = 0;
  frame.append(pre);
}

export function languageOf(pre: HTMLPreElement): string {
  return /language-([\w+#.-]+)/.exec(pre.querySelector("code")?.className ?? "")?.[1] ?? "";
}

function dressTable(table: HTMLTableElement): void {
  const label = markdownWords.t("table");
  const frame = h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": label });
  table.replaceWith(frame);
  frame.append(table);
}

function dressTask(task: Element): void {
  task.setAttribute("role", "img");
  task.setAttribute("aria-label", markdownWords.t(task.classList.contains("done") ? "done" : "open"));
  task.closest("li")?.classList.add("has-task");
}

/** The page fetches nothing from elsewhere: a picture there opens in a tab of its own, and the link names the place before that. */
function dressPicture(link: HTMLAnchorElement): void {
  const alt = link.textContent ?? "";
  if (!/^https?:/i.test(link.getAttribute("href") ?? "")) {
    if (alt === "") link.textContent = link.title;
    return;
  }
  const show = markdownWords.t("showPicture", { host: link.host });
  link.textContent = alt === "" ? show : `${alt} (${show})`;
}

function dressNote(mark: Element): void {
  const label = mark.textContent ?? "";
  const name = markdownWords.t("backToText", { label });
  mark.replaceChildren(h("button", { type: "button", class: "link", "aria-label": name }, label));
}

/** A reference leads to its footnote. One that has none is the text it was, as "[^a-z]"; a number's may still come. */
export function dressReferences(container: HTMLElement, labels: ReadonlySet<string>): void {
  for (const mark of container.querySelectorAll<HTMLElement>(".footnote-ref")) {
    const label = mark.textContent?.replace(/^\[\^|\]$/g, "") ?? "";
    const name = markdownWords.t("footnote", { label });
    if (labels.has(label)) {
      if (mark.firstElementChild !== null) continue;
      mark.classList.remove("unknown");
      mark.replaceChildren(h("button", { type: "button", class: "link", "aria-label": name }, label));
    } else if (!/^\d+$/.test(label)) {
      mark.classList.add("unknown");
      mark.textContent = `[^${label}]`;
    }
  }
}

/** From a reference to its footnote, or from a footnote back to `from`, or else to where it is first mentioned. */
export function followNote(container: HTMLElement, button: Element, from: Element | undefined): void {
  const isReference = button.closest(".footnote-ref") !== null;
  const label = button.textContent;
  const others = container.querySelectorAll<HTMLElement>(
    `${isReference ? ".footnote-label" : ".footnote-ref"} > button`,
  );
  const same = [...others].filter((other) => other.textContent === label);
  const target = same.find((other) => other === from) ?? same[0];
  if (target === undefined) return;
  for (let fold = target.closest("details"); fold !== null; fold = fold.parentElement?.closest("details") ?? null)
    fold.open = true;
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
}

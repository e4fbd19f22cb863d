import { h } from "../../parts/dom.js";
import { markdownWords } from "./words.js";

/** Copies the code that `button` belongs to, and says so. */
export function copyCode(button: Element): void {
  const code = button.closest(".code")?.querySelector("pre")?.textContent ?? "";
  copyText(code).then(
    () => flash(button, markdownWords.t("copied")),
    () => flash(button, markdownWords.t("copyFailed")),
  );
}

function flash(button: Element, text: string): void {
  button.textContent = text;
  setTimeout(() => {
    button.textContent = markdownWords.t("copy");
  }, 1500);
}

export async function copyText(text: string): Promise<void> {
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

import { h } from "../parts/dom.js";
import { paletteWords } from "./words.js";

/** The keys of the page, and what they do. */
export function openShortcuts(): void {
  const { t } = paletteWords;
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const main = isMac ? "⌘" : "Ctrl";
  const lines = [
    [[main, "K"], t("keyFind")],
    [["?"], t("keyHelp")],
    [["Enter"], t("keySend")],
    [["Shift", "Enter"], t("keyLine")],
    [[main, "Enter"], t("keyAdd")],
    [["Esc"], t("keyStop")],
    [["/"], t("keySlash")],
    [["↑"], t("keyUp")],
    [["↑", "↓"], t("keyMove")],
  ] as const;
  const rows = lines.flatMap(([keys, what]) => [
    h("dt", {}, ...keys.map((key) => h("kbd", {}, key))),
    h("dd", {}, what),
  ]);
  const close = h("button", { type: "button", class: "primary", onclick: () => dialog.close() }, t("close"));
  const dialog = h(
    "dialog",
    { class: "shortcuts", "aria-labelledby": "shortcuts-title" },
    h("h2", { id: "shortcuts-title" }, t("shortcuts")),
    h("dl", {}, ...rows),
    h("div", { class: "dialog-actions" }, close),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
}

import { isRecord } from "../../../client/frames.js";
import type { Api } from "../../gateway/api.js";
import { h, setChildren, setText } from "../../parts/dom.js";
import { numberOf } from "../../parts/format.js";
import { onKey } from "../../parts/keyboard.js";
import { isWorking } from "../../session/view-state.js";
import type { Known, Store } from "../../store.js";
import { localeOfPage } from "../../words/language.js";
import { contextWords } from "./words.js";

const { t } = contextWords;
const parts = ["instructions", "files", "memory", "skills", "tools", "history"] as const;
/** Of what begins a summary: from here on the reader is warned. */
const nearPart = 0.9;

interface ContextUse {
  readonly used: number;
  readonly limit: number;
  readonly compactAt: number;
  readonly parts: Readonly<Record<string, number>>;
}

/** How much of what its model can read the open chat takes: a small ring, and the numbers when somebody opens it. */
export class ContextMeter {
  readonly #api: Api;
  readonly #ring = h("span", { class: "context-ring", "aria-hidden": "true" });
  readonly #warning = h("span", { class: "context-soon", hidden: true }, t("soon"));
  readonly #summary = h("summary", { class: "icon-button context-open" }, this.#ring, this.#warning);
  readonly #sum = h("p", {});
  readonly #note = h("p", { class: "muted" });
  readonly #list = h("dl", { class: "context-parts" });
  readonly #panel = h("div", { class: "context-panel" }, h("h2", {}, t("title")), this.#sum, this.#list, this.#note);
  readonly element = h("details", { class: "context-meter is-absent" }, this.#summary, this.#panel);
  #shownFor = "";
  #wanted = 0;

  constructor(store: Store, api: Api) {
    this.#api = api;
    store.watch(["session"], (known) => this.#follow(known));
    onKey(this.element, "Escape", () => {
      if (!this.element.open) return false;
      this.#close();
      this.#summary.focus();
      return true;
    });
    this.element.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !this.element.contains(relatedTarget)) this.#close();
    });
  }

  /** Measured when a chat is opened and when a turn of it has ended: nothing else changes it much. */
  #follow({ session }: Pick<Known, "session">): void {
    if (session === undefined) {
      this.#hide("");
      return;
    }
    const { view, isLoading } = session;
    if (isLoading || isWorking(view)) {
      if (!this.#shownFor.startsWith(`${view.sessionKey} `)) this.#hide("");
      return;
    }
    const last = view.items.findLast(({ seq }) => seq !== undefined)?.seq;
    const wanted = `${view.sessionKey} ${last ?? 0}`;
    if (wanted === this.#shownFor) return;
    if (!this.#shownFor.startsWith(`${view.sessionKey} `)) this.#hide(wanted);
    this.#shownFor = wanted;
    if (last !== undefined) void this.#read(view.sessionKey);
  }

  #hide(shownFor: string): void {
    this.#wanted += 1;
    this.#shownFor = shownFor;
    this.element.classList.add("is-absent");
    this.#close();
  }

  #close(): void {
    this.element.open = false;
  }

  async #read(key: string): Promise<void> {
    this.#wanted += 1;
    const mine = this.#wanted;
    // The chat goes without it while the gateway cannot say.
    const use = await this.#api.get(`api/sessions/${encodeURIComponent(key)}/context`).catch(() => undefined);
    if (mine !== this.#wanted) return;
    const shown = toUse(use);
    this.element.classList.toggle("is-absent", shown === undefined);
    if (shown !== undefined) this.#show(shown);
  }

  #show({ used, limit, compactAt, parts: taken }: ContextUse): void {
    const share = Math.min(1, used / limit);
    const percent = share.toLocaleString(localeOfPage(), { style: "percent" });
    const isNear = used >= compactAt * nearPart;
    this.#ring.style.setProperty("--share", `${Math.round(share * 100)}%`);
    this.element.classList.toggle("near", isNear);
    this.#warning.hidden = !isNear;
    const label = t("label", { percent });
    this.#summary.setAttribute("aria-label", isNear ? `${label}. ${t("soon")}` : label);
    this.#summary.title = label;
    setText(this.#sum, t("of", { used: numberOf(used), limit: numberOf(limit) }));
    setText(this.#note, isNear ? t("isNear") : t("willSummarise", { n: numberOf(compactAt) }));
    const rows = parts.flatMap((part) => {
      const tokens = taken[part] ?? 0;
      return tokens === 0 ? [] : [h("div", {}, h("dt", {}, t(`part_${part}`)), h("dd", {}, numberOf(tokens)))];
    });
    setChildren(this.#list, rows);
  }
}

function toUse(body: unknown): ContextUse | undefined {
  if (!isRecord(body) || !isRecord(body.parts)) return undefined;
  const { used, limit, compactAt } = body;
  if (typeof used !== "number" || typeof limit !== "number" || typeof compactAt !== "number") return undefined;
  const counted = Object.entries(body.parts).flatMap(([part, tokens]) =>
    typeof tokens === "number" ? [[part, tokens] as const] : [],
  );
  return { used, limit, compactAt, parts: Object.fromEntries(counted) };
}

import { h, setText } from "../parts/dom.js";
import { durationOf } from "../parts/format.js";
import { isWorking, type ViewState } from "../session/view-state.js";
import { localeOfPage } from "../words/language.js";
import { chatWords } from "./words.js";

const stateWords = {
  thinking: "thinking",
  responding: "writing",
  planning_tool: "preparingTool",
  awaiting_tool_result: "usingTool",
  awaiting_human: "waitingForYou",
} as const;

/** After so long without anything new the line says what it waits for. */
const silenceMs = 5000;

/** What the assistant does just now; after a silence, what it waits for and since when. */
export class WorkingLine {
  readonly element: HTMLElement;
  readonly #text = h("span");
  #view: ViewState | undefined;
  /** By the clock of this browser: the gateway's may be another. */
  #quietSince = 0;
  /** Since when the gateway is away; undefined while it is there. */
  #awaySince: number | undefined;
  #tick: ReturnType<typeof setInterval> | undefined;

  constructor() {
    const dots = h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
    this.element = h("div", { class: "working", role: "status" }, dots, this.#text);
    this.show(undefined);
  }

  show(view: ViewState | undefined, isOnline = true): void {
    this.#awaySince = isOnline ? undefined : (this.#awaySince ?? Date.now());
    const isHidden = view === undefined || !isWorking(view);
    if (isHidden || this.element.hidden || view.lastAt !== this.#view?.lastAt) this.#quietSince = sinceOf(view);
    this.#view = view;
    this.element.hidden = isHidden;
    clearInterval(this.#tick);
    if (!isHidden) this.#tick = setInterval(() => this.#draw(), 1000);
    this.#draw();
  }

  #draw(): void {
    const view = this.element.hidden ? undefined : this.#view;
    setText(this.#text, view === undefined ? "" : sentenceOf(view, this.#quietSince, this.#awaySince));
  }
}

/** The page may have come later than the event; an event from the future is of a clock that is ahead. */
function sinceOf(view: ViewState | undefined): number {
  const at = new Date(view?.lastAt ?? "").getTime();
  return Number.isNaN(at) ? Date.now() : Math.min(at, Date.now());
}

function sentenceOf({ agentState }: ViewState, quietSince: number, awaySince: number | undefined): string {
  if (awaySince !== undefined) return chatWords.t("gatewayAway", { since: timeOf(awaySince) });
  const state = Object.hasOwn(stateWords, agentState) ? stateWords[agentState as keyof typeof stateWords] : "working";
  const quietMs = Date.now() - quietSince;
  if (quietMs < silenceMs) return chatWords.t(state);
  const values = { time: durationOf(Math.floor(quietMs / 1000) * 1000), since: timeOf(quietSince) };
  if (agentState === "awaiting_human") return chatWords.t("youSilent", values);
  if (agentState === "awaiting_tool_result") return chatWords.t("toolSilent", values);
  return chatWords.t("modelSilent", values);
}

function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString(localeOfPage());
}

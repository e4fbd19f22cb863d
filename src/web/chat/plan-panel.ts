import { stateWord } from "../../client/notices.js";
import { h, setText } from "../parts/dom.js";
import type { OpenPlan } from "../session/view-state.js";
import { noticeWords } from "../session/words.js";
import { chatWords } from "./words.js";

interface PlanActions {
  /** Writes a command into the chat. */
  send(command: string): void;
  /** Read out by screen readers. */
  announce(text: string): void;
}

/** The plan that goes on, above the place where the reader writes. */
export interface PlanPanel {
  readonly element: HTMLElement;
  show(plan: OpenPlan | undefined): void;
}

const stateWords = { pending: "planWaits", running: "planRuns", paused: "planPaused" } as const;

const marks: Readonly<Record<string, string>> = { running: "▶", completed: "✓", skipped: "–", failed: "✗" };

interface Button {
  readonly label: "leavePlan" | "goPlan" | "pausePlan" | "continuePlan";
  readonly command: string;
  readonly isPrimary?: true;
}

const leave: Button = { label: "leavePlan", command: "/plan exit" };
const buttons: Readonly<Record<OpenPlan["status"], readonly Button[]>> = {
  pending: [{ label: "goPlan", command: "/plan go", isPrimary: true }, leave],
  running: [{ label: "pausePlan", command: "/plan pause" }],
  paused: [{ label: "continuePlan", command: "/plan continue", isPrimary: true }, leave],
};

export function createPlanPanel(actions: PlanActions): PlanPanel {
  const goal = h("span", { class: "plan-goal" });
  const state = h("span", { class: "plan-state" });
  const steps = h("ol", { class: "plan-steps", tabindex: "0", "aria-label": chatWords.t("steps") });
  const choices = h("div", { class: "choices" });
  const card = h("details", { class: "plan-card", open: true }, h("summary", {}, goal, state), steps, choices);
  const element = h(
    "section",
    { class: "plan-panel", "aria-label": chatWords.t("plan") },
    h("div", { class: "column" }, card),
  );
  let shown: OpenPlan | undefined;
  element.hidden = true;

  function show(plan: OpenPlan | undefined): void {
    if (plan === shown) return;
    const before = shown;
    shown = plan;
    element.hidden = plan === undefined;
    if (plan === undefined) return;
    const line = stateLine(plan);
    setText(goal, plan.goal);
    setText(state, line);
    steps.replaceChildren(...plan.steps.map(stepLine));
    steps.querySelector('[data-status="running"], [data-status="ready"]')?.scrollIntoView({ block: "nearest" });
    if (before?.status !== plan.status || before.steps.length !== plan.steps.length) {
      const own = plan.status === "pending" && plan.steps.length === 0 ? [leave] : buttons[plan.status];
      choices.replaceChildren(...own.map((button) => buttonOf(button, actions)));
    }
    if (before !== undefined && stateLine(before) !== line) actions.announce(`${chatWords.t("plan")} ${line}`);
  }

  return { element, show };
}

function stateLine({ status, steps }: OpenPlan): string {
  const over = steps.filter((step) => step.status === "completed" || step.status === "skipped").length;
  return steps.length === 0
    ? chatWords.t("planMade")
    : chatWords.t("planState", { over, all: steps.length, state: chatWords.t(stateWords[status]) });
}

function stepLine({ text, status, result }: OpenPlan["steps"][number]): HTMLElement {
  return h(
    "li",
    { "data-status": status },
    h("span", { class: "plan-mark", "aria-hidden": "true" }, marks[status] ?? "○"),
    h("span", {}, text, result === undefined ? undefined : h("small", {}, result)),
    h("span", { class: "off-screen" }, stateWord(status, noticeWords.t)),
  );
}

function buttonOf({ label, command, isPrimary }: Button, { send }: PlanActions): HTMLElement {
  const button = h("button", { type: "button", class: isPrimary ? "choice primary" : "choice" }, chatWords.t(label));
  button.addEventListener("click", () => {
    // What it says is done once the plan has changed; a second click would say it again.
    for (const each of button.parentElement?.querySelectorAll("button") ?? []) each.disabled = true;
    send(command);
  });
  return button;
}

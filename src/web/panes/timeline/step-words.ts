import type { QuestionStep, Step } from "../../../events/folds/timeline/step.js";
import { permissionLine } from "../../failures/said.js";
import { durationOf } from "../../parts/format.js";
import { timelineWords } from "./words.js";

const { t } = timelineWords;

/** What kind of step it is, and which. */
export function nameOf(step: Step): { readonly kind: string; readonly what: string } {
  switch (step.kind) {
    case "wait":
      return { kind: t("wait"), what: step.said.text };
    case "model":
      return { kind: t("modelCall"), what: step.answer?.said.text || step.answer?.calls.join(", ") || step.model };
    case "tool":
      return { kind: t("tool"), what: `${step.name}: ${step.summary || step.input.text}` };
    case "agent":
      return { kind: t("agent"), what: step.label };
    case "question":
      return { kind: t("question"), what: inPageWords(step, step.question) };
    case "delivery":
      return {
        kind: t("delivery", { channel: channelName(step.channel) }),
        what: t(`delivery_${statusOf(step.status)}`),
      };
    case "compaction":
      return { kind: t("compaction"), what: "" };
    case "note":
      return { kind: t(`note_${step.code}`), what: step.code === "restart" ? "" : step.detail };
    case "error":
      return { kind: t("error"), what: step.detail || step.code };
    default:
      return step satisfies never;
  }
}

/** Words of a question or of its answer, in the language of the page where they are the gateway's. */
export function inPageWords({ about }: Pick<QuestionStep, "about">, words: string): string {
  return about === "permission" ? permissionLine(words) : words;
}

const statuses = ["queued", "sending", "sent", "retrying", "dead_letter", "refused"] as const;

export function statusOf(status: string): (typeof statuses)[number] | "unknown" {
  return statuses.find((known) => known === status) ?? "unknown";
}

export function isProblem(step: Step): boolean {
  switch (step.kind) {
    case "error":
      return true;
    case "tool":
      return step.isError === true;
    case "agent":
      return step.state === "failed";
    case "delivery":
      return ["unknown", "dead_letter", "refused", "retrying"].includes(step.status);
    case "question":
      return step.outcome === "timeout";
    case "model":
      return step.restarts > 0 || step.answer?.isPartial === true;
    case "note":
      return step.code === "loop" || step.code === "budget" || step.code === "restart";
    default:
      return false;
  }
}

/** `1.2 s`; nothing for a moment of no length. */
export function lengthOf({ atMs, endMs }: Step): string {
  if (endMs === undefined) return t("notOver");
  return endMs === atMs ? "" : durationOf(endMs - atMs);
}

export function channelName(channel: string): string {
  if (channel === "webui") return t("thisPage");
  return channel === "cli" ? t("terminal") : channel;
}

import { usageWords } from "./words.js";

const { t } = usageWords;

/** A sender, for who reads: `webui:owner` is the reader. */
export function personName(sender: string): string {
  return sender === "webui:owner" ? t("youHere") : sender === "cli:owner" ? t("youThere") : sender;
}

export function budgetName(scope: string, subject: string, jobOf: (id: string) => string): string {
  if (scope === "day") return t("dayBudget");
  return scope === "job" ? t("jobBudget", { name: jobOf(subject) }) : t("senderBudget", { name: personName(subject) });
}

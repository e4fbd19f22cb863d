import type { BackgroundBudget } from "../../budgets/budgets.js";
import type { Count } from "../../engine/engine.js";
import type { ChosenModel } from "../../providers/provider.js";
import { askModel, canWrite } from "./ask.js";

export interface DaySummaryPorts {
  chooseModel(label: string | undefined, signal: AbortSignal): Promise<ChosenModel>;
  /** What is asked without anybody's wish. */
  readonly budget: BackgroundBudget;
  /** Tells that the summary of a day was written, and counts what it used. */
  record(day: string, counts: readonly Count[]): Promise<void>;
}

const maxTokens = 1500;
const system =
  "Summarise this day's conversations for the assistant's own long-term memory: what people wanted, what was decided or done, what is open, and lasting facts about them. Short Markdown bullets, in the language of the conversations. Leave out small talk and secrets.";

/** What a model says about a day; undefined when none can be asked now, or it says nothing. */
export async function summariseDay(
  { chooseModel, budget, record }: DaySummaryPorts,
  day: string,
  conversations: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const chosen = await chooseModel(undefined, signal);
  if (!canWrite(chosen) || !budget.mayAsk()) return undefined;
  const { text, use } = await askModel(chosen, { system, text: `${day}\n\n${conversations}`, maxTokens }, signal);
  await record(day, budget.countsOf(use));
  return text || undefined;
}

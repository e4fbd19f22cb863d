import { addUsage, noUsage } from "../../events/content.js";
import { answerCost } from "../../events/machines/answer.js";
import type { ModelUse } from "../../events/model-use.js";
import type { ChosenModel } from "../../providers/provider.js";

export function addUse(a: ModelUse | undefined, b: ModelUse): ModelUse {
  if (a === undefined) return b;
  const usage = addUsage(a.usage, b.usage);
  const isPriced = a.cost_usd !== undefined && b.cost_usd !== undefined;
  return { model: b.model, usage, ...(isPriced ? { cost_usd: (a.cost_usd ?? 0) + (b.cost_usd ?? 0) } : {}) };
}

/** The stand-in answers requests of people; a summary or a title by it would be noise. */
const standIn = "offline";

export function canWrite(chosen: ChosenModel): boolean {
  return chosen.provider.name !== standIn;
}

/**
 * One question to a model outside of any conversation: no tools, no history, one text back.
 *
 * @throws {ProviderError}
 */
export async function askModel(
  chosen: ChosenModel,
  question: { readonly system: string; readonly text: string; readonly maxTokens: number },
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly use: ModelUse }> {
  let text = "";
  let usage = noUsage;
  let costUsd: number | undefined;
  const request = {
    model: chosen.model,
    system: question.system,
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: question.text }] }],
    tools: [],
    maxTokens: question.maxTokens,
    temperature: chosen.temperature,
  };
  for await (const chunk of chosen.provider.stream(request, signal)) {
    if (chunk.kind === "text") text += chunk.text;
    else if (chunk.kind === "was_thinking") text = "";
    else if (chunk.kind === "end") {
      usage = chunk.usage;
      costUsd = chunk.costUsd;
    }
  }
  const cost = answerCost({ usage, costUsd }, chosen.price);
  return { text: text.trim(), use: { model: chosen.label, usage, ...(cost === undefined ? {} : { cost_usd: cost }) } };
}

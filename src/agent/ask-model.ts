import { noUsage, type Usage } from "../events/content.js";
import type { ChosenModel } from "../providers/provider.js";

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
): Promise<{ readonly text: string; readonly usage: Usage }> {
  let text = "";
  let usage = noUsage;
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
    else if (chunk.kind === "end") usage = chunk.usage;
  }
  return { text: text.trim(), usage };
}

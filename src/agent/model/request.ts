import type { ImagePart, TextPart, ToolResultPart } from "../../events/content.js";
import type { ChosenModel, ModelMessage, ModelRequest, ToolDeclaration } from "../../providers/provider.js";
import type { History } from "../../sessions/history/history.js";

export interface RequestSources {
  readonly history: Pick<History, "toMessages" | "mayHoldImages">;
  readonly turnId: string;
  readonly system: string;
  readonly tools: readonly ToolDeclaration[];
}

/** The request as one of the chain's models can take it: each has its own limits, and reads only its own thinking. */
export function toModelRequest(model: ChosenModel, { history, turnId, system, tools }: RequestSources): ModelRequest {
  const messages = history.toMessages(turnId, model.label);
  return {
    model: model.model,
    system,
    // A long conversation is walked as seldom as can be.
    messages: model.supportsImages || !history.mayHoldImages ? messages : messages.map(withoutImages),
    tools,
    maxTokens: model.maxTokens,
    temperature: model.temperature,
    thinking: model.thinking,
  };
}

/** Messages without images are passed on as they are: providers know them again. */
function withoutImages(message: ModelMessage): ModelMessage {
  if (message.role === "tool" && message.content.some(({ images }) => images !== undefined))
    return { role: "tool", content: message.content.map(withoutSeeing) };
  if (message.role !== "user" || message.content.every(({ type }) => type === "text")) return message;
  return { role: "user", content: message.content.map(asText) };
}

function withoutSeeing({ images = [], ...result }: ToolResultPart): ToolResultPart {
  const notes = images.map((image) => `\n${asText(image).text}`);
  return { ...result, content: `${result.content}${notes.join("")}` };
}

function asText(part: TextPart | ImagePart): TextPart {
  if (part.type === "text") return part;
  return { type: "text", text: `[${part.filename ?? "image"}: an image, which this model cannot see]` };
}

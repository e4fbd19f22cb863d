import { estimateTokens } from "../util/text/estimate-tokens.js";
import type { ContentPart, ToolResultPart } from "./content.js";

/** Roughly what the large APIs count for an image that they have not made smaller. */
const imageTokens = 1600;

/** About how many tokens a message takes. */
export function tokensOf(content: readonly ContentPart[]): number {
  let tokens = 4;
  for (const part of content) {
    if (part.type === "text" || part.type === "thinking") tokens += estimateTokens(part.text);
    else if (part.type === "tool_use") tokens += estimateTokens(JSON.stringify(part.input)) + 10;
    else if (part.type === "tool_result") tokens += tokensOfResult(part);
    else if (part.type === "image") tokens += imageTokens;
  }
  return Math.ceil(tokens);
}

export function tokensOfResult({ content, images = [] }: ToolResultPart): number {
  return Math.ceil(estimateTokens(content)) + images.length * imageTokens;
}

import type { ContentPart, ToolResultPart } from "../../events/content.js";
import { estimateTokens } from "../../util/text/estimate-tokens.js";

/** An image, whatever its size: between what the providers count. */
const imageTokens = 1200;

/** About how many tokens a message takes. */
export function tokensOf(content: readonly ContentPart[]): number {
  let tokens = 4;
  for (const part of content) {
    if (part.type === "text" || part.type === "thinking") tokens += estimateTokens(part.text);
    else if (part.type === "tool_use") tokens += estimateTokens(JSON.stringify(part.input)) + 10;
    else if (part.type === "image") tokens += imageTokens;
  }
  return tokens;
}

export function tokensOfResult({ content, images = [] }: ToolResultPart): number {
  return estimateTokens(content) + images.length * imageTokens;
}

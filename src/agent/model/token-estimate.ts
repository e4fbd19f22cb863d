import type { ModelMessage, ModelRequest } from "../../providers/provider.js";

/** Roughly what the large APIs count for an image that they have not made smaller. */
const tokensPerImage = 1600;

/** The same messages come again with each request of a conversation. */
const known = new WeakMap<ModelMessage, number>();

/** About how many tokens a request's prompt has: four letters for one, a Chinese character for nearly one. */
export function estimateTokens({
  system,
  messages,
  tools,
}: Pick<ModelRequest, "system" | "messages" | "tools">): number {
  const letters = messages.reduce((sum, message) => sum + weightOf(message), 0);
  return Math.ceil(letters + tokensIn(system) + tokensIn(JSON.stringify(tools)));
}

function weightOf(message: ModelMessage): number {
  const weighed = known.get(message);
  if (weighed !== undefined) return weighed;
  let weight = 4;
  for (const part of message.content) {
    if (part.type === "image") weight += tokensPerImage;
    else if (part.type === "tool_use") weight += tokensIn(JSON.stringify(part.input)) + 10;
    else weight += tokensIn(part.type === "tool_result" ? part.content : part.text);
  }
  known.set(message, weight);
  return weight;
}

/** About how many tokens a text has. */
export function tokensIn(text: string): number {
  // Beyond Latin letters each character has two more bytes, or three.
  const wide = Math.min(text.length, (Buffer.byteLength(text) - text.length) / 2);
  return wide * 0.8 + (text.length - wide) / 4;
}

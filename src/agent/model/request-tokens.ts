import { tokensOf } from "../../events/content-tokens.js";
import type { ModelMessage, ModelRequest } from "../../providers/provider.js";
import { estimateTokens } from "../../util/text/estimate-tokens.js";

/** The same messages come again with each request of a conversation. */
const known = new WeakMap<ModelMessage, number>();

/** About how many tokens a request's prompt has. */
export function tokensOfRequest({
  system,
  messages,
  tools,
}: Pick<ModelRequest, "system" | "messages" | "tools">): number {
  const said = messages.reduce((sum, message) => sum + tokensOfMessage(message), 0);
  return Math.ceil(said + estimateTokens(system) + estimateTokens(JSON.stringify(tools)));
}

function tokensOfMessage(message: ModelMessage): number {
  const tokens = known.get(message) ?? tokensOf(message.content);
  known.set(message, tokens);
  return tokens;
}

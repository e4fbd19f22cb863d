import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { Adjustments } from "../adjustments.js";
import type { ModelMessage, Thinking } from "../provider.js";
import { toBudget, toLevel } from "../request/thinking.js";

/** What a request says about thinking, and by how many tokens that lengthens the answer. */
export interface ThinkingFields {
  readonly fields: Pick<MessageCreateParamsStreaming, "thinking" | "output_config">;
  readonly extraTokens: number;
  /** No temperature may be set beside it. */
  readonly isOn: boolean;
}

const nothing: ThinkingFields = { fields: {}, extraTokens: 0, isOn: false };

/** Claude up to 4.5, which takes a budget; and servers of others that speak this API. */
const takesBudget = /claude-3|claude-(opus|sonnet|haiku)-4(-[0-5])?(-2\d{7})?$/;

/** See https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking and …/extended-thinking. */
export function thinkingFields(
  request: { readonly model: string; readonly thinking?: Thinking | undefined },
  messages: readonly ModelMessage[],
  adjustments: Adjustments,
): ThinkingFields {
  const { model, thinking } = request;
  if (thinking === undefined || adjustments.has("no_thinking")) return nothing;
  const isAdaptive = adjustments.has("adaptive_thinking")
    ? !adjustments.has("thinking_budget")
    : model.includes("claude-") && !takesBudget.test(model) && !adjustments.has("thinking_budget");
  if (thinking === "off")
    return isAdaptive ? { fields: { thinking: { type: "disabled" } }, extraTokens: 0, isOn: false } : nothing;
  const budget = toBudget(thinking);
  if (isAdaptive) {
    return {
      // Without `display` the newer models think in silence.
      fields: { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: toLevel(thinking) } },
      extraTokens: budget,
      isOn: true,
    };
  }
  if (lacksThinking(messages)) return nothing;
  return { fields: { thinking: { type: "enabled", budget_tokens: budget } }, extraTokens: budget, isOn: true };
}

/**
 * With a budget the API wants each message of the running turn that calls tools to begin with its thinking. There is none
 * where another model, or this one without thinking, has begun the turn.
 */
function lacksThinking(messages: readonly ModelMessage[]): boolean {
  const index = messages.findLastIndex(({ role }) => role === "assistant");
  const answer = messages[index];
  if (answer?.role !== "assistant" || messages[index + 1]?.role !== "tool") return false;
  const [first] = answer.content;
  return first?.type !== "thinking" || first.signature === undefined || first.signature === "";
}

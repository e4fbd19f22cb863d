import type { ToolUsePart } from "../../events/content.js";
import type { ToolAnswer, ToolQuestion } from "../../tools/tool.js";
import type { HumanInput } from "./human-input.js";

/** Asks a person what a tool wants to know. */
export async function askForTool(
  call: ToolUsePart,
  asking: ToolQuestion,
  human: HumanInput,
  withdrawn?: AbortSignal,
): Promise<ToolAnswer> {
  const { kind, question, options, allowCustom, default: fallback, names = [], isMidCall = false } = asking;
  if (isMidCall && human.isUnattended) return { outcome: "nobody", text: "" };
  const asked = {
    kind,
    question,
    tool_call_id: call.id,
    tool_name: call.name,
    options:
      kind === "env_var"
        ? [{ id: "skip", label: "Go on without" }]
        : options.map((option, index) => ({ id: String(index + 1), ...option })),
    allow_custom: allowCustom,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(names.length === 0 ? {} : { fields: [...names] }),
    ...(isMidCall ? { mid_call: true } : {}),
  };
  return await human.ask(asked, [], withdrawn);
}

import { z } from "zod";
import { cutText } from "../../util/text/cut-text.js";
import { defineTool, failed } from "../tool.js";

export const askHumanTool = defineTool({
  name: "ask_human",
  description:
    "Ask the person and wait: only what you cannot go on without. For keys and passwords name variables in env; you never see the values.",
  input: z.object({
    question: z.string(),
    options: z.array(z.string()).max(10).optional(),
    default: z.string().optional().describe("recommended option"),
    env: z.array(z.string()).max(10).optional(),
  }),
  effect: "read",
  risk: "none",
  origin: "builtin",

  async run({ question, options = [], default: fallback, env = [] }, context) {
    const problem = problemOf(
      question,
      options.map((label) => label.trim()),
      env,
    );
    if (problem !== undefined) return failed(problem);
    const answer = await context.ask({
      kind: env.length > 0 ? "env_var" : options.length > 0 ? "decision" : "clarification",
      question: question.trim(),
      options: options.map((label) => ({ label, ...(label === fallback ? { recommended: true } : {}) })),
      allowCustom: env.length === 0,
      default: fallback,
      names: env,
    });
    const text = textFor(answer.outcome, answer.text, env.length > 0);
    const isOwnWords = answer.outcome === "answered" && env.length === 0;
    const summary = `asked: ${cutText(question.trim(), 80)}`;
    return { text, isError: false, summary, ...(isOwnWords ? { addresses: "text" as const } : {}) };
  },
});

function problemOf(question: string, labels: readonly string[], env: readonly string[]): string | undefined {
  if (question.trim() === "") return "question: write what you want to know.";
  if (labels.includes("")) return "options: each needs a label.";
  if (new Set(labels.map((label) => label.toLowerCase())).size < labels.length)
    return "options: each needs its own label.";
  const wrong = env.find((name) => !/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name));
  if (wrong !== undefined) return `env: "${cutText(wrong, 40)}" is not a variable name; write e.g. WEATHER_API_KEY.`;
  return env.length > 0 && labels.length > 0 ? "Ask either for variables or with options." : undefined;
}

function textFor(outcome: "answered" | "timeout" | "nobody", text: string, isSecret: boolean): string {
  if (outcome === "answered") return isSecret ? `The person answered: ${text}. You cannot see the values.` : text;
  const why = outcome === "nobody" ? "There is nobody to ask in this turn" : "Nobody answered in time";
  return text === ""
    ? `${why}; go on by your own judgement and say what you assumed.`
    : `${why}, so this was taken: ${text}`;
}

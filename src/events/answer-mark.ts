import type { Payload } from "./catalogue.js";

/** How a question ended, in one line below it. */
export function answerMark({ outcome, answer }: Pick<Payload<"human_input_answered">, "outcome" | "answer">): string {
  if (outcome === "answered") return `✓ ${answer}`;
  if (outcome === "cancelled") return "✗ withdrawn";
  return answer === "" ? "✗ no answer in time" : `✗ no answer in time: ${answer}`;
}

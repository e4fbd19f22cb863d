import type { Payload } from "../../events/catalogue.js";
import { fenced } from "../../util/text/fence.js";
import { visibleFields, visibleJson } from "../../util/text/visible.js";
import { isForOwner, ownersReason } from "./answers.js";
import { privateReason } from "./open-questions.js";

type Asked = Payload<"human_input_asked">;

/** What a chat shows of an input. Nobody may allow what they could not read to its end. */
const longestShown = 12_000;

/** The question as a chat reads it, as Markdown; its options are added by the channel, as buttons or numbered lines. */
export function questionText(asked: Asked): string {
  const isPermission = asked.kind === "permission";
  const parts = [isPermission ? plainMarkdown(asked.question) : asked.question];
  if (isForOwner(asked)) parts.push(`${ownersReason} Without an answer it counts as a no.`);
  if (asked.kind === "env_var") parts.push(privateReason(asked));
  if (asked.input !== undefined)
    parts.push(canBeShown(asked.input) ? inputText(asked.input) : "Its input is too long to be shown here.");
  if (asked.allow_custom)
    parts.push(asked.options.length === 0 ? "Please write your answer." : "Or write your own answer.");
  return parts.join("\n\n");
}

/** The options for the chat that asks: none where nobody there can choose one. */
export function choicesFor(asked: Asked): Asked["options"] {
  if (isForOwner(asked)) return [];
  if (asked.kind !== "permission") return asked.options;
  return asked.options.map((option) =>
    option.description === undefined ? option : { ...option, description: plainMarkdown(option.description) },
  );
}

/** True where the question shows all that it asks about. */
export function canBeShown(input: unknown): boolean {
  return (JSON.stringify(input) ?? "").length <= longestShown && visibleJson(input).length <= 2 * longestShown;
}

/** Markdown that shows a text as it is: no mark in a command or a name may vanish or become a link. */
function plainMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~]/g, "\\$&");
}

/** What was taken because nobody answered, as one sentence for the person. */
export function timeoutText({ kind, timeout_seconds, question }: Asked, taken: string): string {
  const waited = `No answer within ${durationOf(timeout_seconds)}`;
  if (kind === "permission") return `${waited}, so it was not allowed: ${question}`;
  if (kind === "env_var") return `${waited}, so I go on without it.`;
  return taken === "" ? `${waited}, so I go on by my own judgement.` : `${waited}, so I took “${taken}”.`;
}

function durationOf(seconds: number): string {
  if (seconds < 120) return seconds === 1 ? "a second" : `${seconds} seconds`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3600)} hours`;
}

/** Each field with its whole value. */
function inputText(input: Readonly<Record<string, unknown>>): string {
  return visibleFields(input)
    .map(({ name, value }) => `**${plainMarkdown(name)}**\n${fenced(value)}`)
    .join("\n");
}

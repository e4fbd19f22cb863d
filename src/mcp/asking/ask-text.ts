import { cutText } from "../../util/text/cut-text.js";
import { fenced } from "../../util/text/fence.js";
import { visible, visibleAddress, visibleLines } from "../../util/text/visible.js";
import type { Field, FieldChoice, Value } from "./form.js";
import { words } from "./read-answer.js";

/** Who asks, and in which call. */
export interface Asking {
  readonly server: string;
  readonly tool: string;
}

const never =
  "Never write a password, a key or a card number here: that server gets it, and it stays in this conversation.";

/** What every question of a server begins with: nobody may take its words for the gateway's. */
function intro({ server, tool }: Asking, wants: string): string {
  return `The MCP server \`${code(server)}\` ${wants} while \`${code(tool)}\` runs. The words in the box are the server's, not mine.`;
}

/** The whole form, where nothing of it must be filled in. */
export function formText(asking: Asking, message: string, fields: readonly Field[]): string {
  const lines = fields.map((field) => `${labelOf(field)}: ${shownValue(field.default)}`);
  const box = fenced([visibleLines(message), ...(lines.length === 0 ? [] : ["", ...lines])].join("\n"));
  const asks = lines.length === 0 ? "Do you agree to it?" : "You can send it unchanged.";
  return [intro(asking, "asks you something"), box, `${asks} ${never}`].join("\n\n");
}

/** One field. `problem`: what was wrong with the answer of before. */
export function fieldText(
  asking: Asking,
  message: string,
  field: Field,
  at: {
    readonly number: number;
    readonly of: number;
    readonly isListed: boolean;
    readonly problem?: string | undefined;
  },
): string {
  const { description } = field;
  const list = at.isListed && "choices" in field ? ["", ...field.choices.map(numbered)] : [];
  const box = fenced(
    [
      visibleLines(message),
      "",
      `${at.of > 1 ? `(${at.number} of ${at.of}) ` : ""}${labelOf(field)}`,
      ...(description === undefined ? [] : [visibleLines(description)]),
      ...list,
    ].join("\n"),
  );
  const again = at.problem === undefined ? [] : [`${at.problem} Please try again.`];
  return [...again, intro(asking, "asks you something"), box, `${howTo(field, at.isListed)} ${never}`].join("\n\n");
}

/** A page that a server wants a person to open. */
export function pageText(asking: Asking, message: string, url: URL): string {
  return [
    intro(asking, "asks you to open a page in your browser"),
    fenced(visibleLines(message)),
    `The page is at the host \`${code(url.host)}\`. Its whole address:`,
    fenced(visibleAddress(url.href)),
    "I do not open it. Only open it if you know that host and expected this; the server only learns whether you agree.",
  ].join("\n\n");
}

function howTo(field: Field, isListed: boolean): string {
  const what = hintOf(field, isListed);
  const ways = [
    ...(field.default === undefined ? [] : [`“${words.default}” for ${shortOf(field.default)}`]),
    ...(field.isRequired ? [] : [`“${words.skip}” to leave it out`]),
    `“${words.decline}” to tell the server nothing`,
  ];
  return `${what}${what === "" ? "" : " "}Or write ${ways.join(", or ")}.`;
}

function hintOf(field: Field, isListed: boolean): string {
  switch (field.kind) {
    case "text":
      return "";
    case "number":
      return field.isInteger ? "Write a whole number." : "Write a number.";
    case "yes or no":
      return "Yes or no.";
    case "one":
      return isListed ? "Write the number of one choice." : "";
    case "some":
      return "Write the numbers of your choices, with commas between them.";
    default:
      return field satisfies never;
  }
}

function shortOf(value: Value): string {
  return `\`${code(cutText(visible(shownValue(value)), 80))}\``;
}

function shownValue(value: Value | undefined): string {
  if (value === undefined) return "(left out)";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return visible(Array.isArray(value) ? value.join(", ") : String(value));
}

function labelOf({ label, name }: Field): string {
  return visible(label === name ? name : `${label} (${name})`);
}

function numbered({ label, value }: FieldChoice, at: number): string {
  return visible(`${at + 1}. ${label}${label === value ? "" : ` (${value})`}`);
}

/** Inside of a pair of ticks. */
function code(text: string): string {
  return visible(text).replaceAll("`", "'");
}

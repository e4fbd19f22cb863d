import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import type { ToolContext, ToolQuestion } from "../../tools/tool.js";
import { cutText } from "../../util/text/cut-text.js";
import { visible } from "../../util/text/visible.js";
import { type Asking, fieldText, formText, pageText } from "./ask-text.js";
import { type Field, readForm, type Value } from "./form.js";
import { type Answer, readAnswer, words } from "./read-answer.js";
import { secretField } from "./secrets.js";

const maxMessage = 2000;
const maxAddress = 2000;
/** Somebody who answers wrong so often does not want to. */
const maxTries = 5;
/** As buttons; more are listed in the text. */
const maxButtons = 7;

const send = "Send it";
const change = "Fill it in";
const decline = "Decline";
const agree = "I agree";

/** Asks the person for whom a call runs what the server wants to know in it. */
export type Asker = (request: ElicitRequest["params"], signal: AbortSignal) => Promise<ElicitResult>;

export interface AskerOptions extends Asking {
  readonly ask: ToolContext["ask"];
  /** Why something was declined without asking anybody, as a clause for the model. */
  readonly onDeclined: (why: string) => void;
}

export function createAsker(options: AskerOptions): Asker {
  return async (request, signal) => {
    const question = new ServerQuestion(options, signal);
    try {
      return "url" in request ? await question.page(request.message, request.url) : await question.form(request);
    } catch (error) {
      if (error instanceof Unanswered) return { action: error.action };
      // The turn was stopped, or nobody waits for the answer any more.
      if (!signal.aborted) throw error;
      return { action: "cancel" };
    }
  };
}

/** Nobody has answered, or nobody wants to. */
class Unanswered extends Error {
  readonly action: "decline" | "cancel";

  constructor(action: "decline" | "cancel") {
    super(action);
    this.action = action;
  }
}

class ServerQuestion {
  readonly #options: AskerOptions;
  readonly #signal: AbortSignal;

  constructor(options: AskerOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async page(message: string, address: string): Promise<ElicitResult> {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    const isWeb = url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
    if (!isWeb || address.length > maxAddress) return this.#refuse("its address is not one that can be shown as it is");
    if (message.length > maxMessage) return this.#refuse("its words are too long to be shown");
    const answer = await this.#ask(pageText(this.#options, message, url), [agree, decline]);
    return { action: answer === agree ? "accept" : "decline" };
  }

  async form(request: Exclude<ElicitRequest["params"], { readonly url: string }>): Promise<ElicitResult> {
    const { message, requestedSchema } = request;
    const read = readForm(requestedSchema);
    if ("problem" in read) return this.#refuse(read.problem);
    const { fields } = read;
    const asksFor = secretField(message, fields);
    if (asksFor !== undefined)
      return this.#refuse(
        `its field “${cutText(visible(asksFor), 60)}” looks like a password or another secret, which is never asked for in a chat`,
      );
    if (isTooLong(message, fields)) return this.#refuse("its words are too long to be shown");
    if (fields.every((field) => field.default !== undefined || !field.isRequired)) {
      const ways = fields.length === 0 ? [agree, decline] : [send, change, decline];
      const answer = await this.#ask(formText(this.#options, message, fields), ways);
      if (answer === decline) return { action: "decline" };
      if (answer !== change) return { action: "accept", content: defaultsOf(fields) };
    }
    const content: Record<string, Value> = {};
    for (const [index, field] of fields.entries()) {
      const value = await this.#field(message, field, { number: index + 1, of: fields.length });
      // A name may be any, also that of a prototype.
      if (value !== undefined) Object.defineProperty(content, field.name, { value, enumerable: true });
    }
    return { action: "accept", content };
  }

  /** The value; undefined where it is left out. */
  async #field(
    message: string,
    field: Field,
    at: { readonly number: number; readonly of: number },
  ): Promise<Value | undefined> {
    const buttons = buttonsOf(field);
    let problem: string | undefined;
    for (let tries = 0; tries < maxTries; tries++) {
      const text = fieldText(this.#options, message, field, { ...at, isListed: buttons.length === 0, problem });
      const answer: Answer = readAnswer(field, await this.#ask(text, buttons));
      if (answer.kind === "value") return answer.value;
      if (answer.kind === "skip") return undefined;
      if (answer.kind === "decline") throw new Unanswered("decline");
      problem = answer.problem;
    }
    throw new Unanswered("cancel");
  }

  /** @throws {Unanswered} */
  async #ask(question: string, labels: readonly string[]): Promise<string> {
    const asked: ToolQuestion = {
      kind: labels.length === 0 ? "clarification" : "decision",
      question,
      options: labels.map((label) => ({ label })),
      allowCustom: labels.length === 0,
      default: labels.find((label) => label.toLowerCase() === words.decline) ?? words.decline,
      isMidCall: true,
    };
    const { outcome, text } = await this.#options.ask(asked, this.#signal);
    if (outcome === "answered") return text;
    if (outcome === "timeout") throw new Unanswered("cancel");
    this.#options.onDeclined("there is nobody to ask in this turn");
    throw new Unanswered("decline");
  }

  #refuse(why: string): ElicitResult {
    this.#options.onDeclined(why);
    return { action: "decline" };
  }
}

function isTooLong(message: string, fields: readonly Field[]): boolean {
  const words = fields.flatMap((field) => [
    field.name,
    field.label,
    field.description ?? "",
    ...("choices" in field ? field.choices.flatMap(({ label, value }) => [label, value]) : []),
  ]);
  return message.length > maxMessage || words.some((one) => one.length > 500) || words.join("").length > 4 * maxMessage;
}

function defaultsOf(fields: readonly Field[]): Record<string, Value> {
  return Object.fromEntries(
    fields.flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default]])),
  );
}

/** What a chat shows as buttons; none where the words of a server could be taken for something else there. */
function buttonsOf(field: Field): readonly string[] {
  const more = field.isRequired ? [decline] : ["Skip", decline];
  if (field.kind === "yes or no") return ["Yes", "No", ...more];
  if (field.kind !== "one" || field.choices.length > maxButtons) return [];
  const labels = [...field.choices.map(({ label }) => label), ...more];
  const isPlain = labels.every(
    (label) => /^[\p{L}\p{N}][\p{L}\p{N} ,:()+-]{0,39}$/u.test(label) && label === label.trim(),
  );
  const names = labels.map((label) => label.toLowerCase());
  const isClear = new Set([...names, words.skip, words.default]).size === names.length + (field.isRequired ? 2 : 1);
  // A label that is the number of another one would be read as that.
  return isPlain && isClear && !labels.some((label) => /^\d+$/.test(label)) ? labels : [];
}

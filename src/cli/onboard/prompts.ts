import * as clack from "@clack/prompts";
import { harmless } from "../text/output.js";
import { Stopped } from "./stopped.js";

export interface Choice<T extends string> {
  readonly value: T;
  readonly label?: string | undefined;
  readonly hint?: string | undefined;
  /** For what is not in the list: offered where nothing else has what is typed. */
  readonly isOther?: true;
}

/** What was chosen from a list that can be searched. */
export interface Found<T extends string> {
  readonly value: T;
  /** The search, where it is not a part of what was chosen. */
  readonly typed: string;
}

/** Shown at a time. */
const mostInList = 12;

/** Questions on the terminal, on stderr: stdout has what was done. Each of them throws {@link Stopped}. */
export class Prompts {
  readonly #around: { readonly output: NodeJS.WriteStream; readonly signal: AbortSignal };

  constructor(signal: AbortSignal) {
    this.#around = { output: process.stderr, signal };
  }

  begin(title: string): void {
    clack.intro(title, this.#around);
  }

  async choose<T extends string>(message: string, choices: readonly Choice<T>[], initial?: T): Promise<T> {
    return answerOf(await clack.select<string>({ ...this.#around, ...listOf(message, choices, initial) }), choices);
  }

  /** From a list of names: typing a part of one shows those that have it, and its full name shows that one alone. */
  async find<T extends string>(message: string, choices: readonly Choice<T>[], initial?: T): Promise<Found<T>> {
    const isOther = new Set(choices.filter((one) => one.isOther).map(({ value }): string => value));
    const { options, ...list } = listOf(message, choices, initial);
    let typed = "";
    const matches = ({ value, label = value }: Choice<string>, search: string): boolean => {
      const wanted = search.trim().toLowerCase();
      if (choices.some((one) => one.value.toLowerCase() === wanted)) return value.toLowerCase() === wanted;
      return `${value}\n${label}`.toLowerCase().includes(wanted);
    };
    const filter = (search: string, { value }: { readonly value: string }): boolean => {
      const shown = choices.filter((one) => matches(one, search));
      return shown.some((one) => one.value === value) || (shown.length === 0 && isOther.has(value));
    };
    const answer = await clack.autocomplete<string>({
      ...{ ...this.#around, ...list, filter, maxItems: mostInList },
      options() {
        typed = this.userInput.trim();
        return options;
      },
      validate: (value) => (value === undefined ? "Nothing has that name. Type less of it." : undefined),
    });
    const value = answerOf(answer, choices);
    const label = choices.find((one) => one.value === value)?.label ?? value;
    return { value, typed: label.toLowerCase().includes(typed.toLowerCase()) ? "" : typed };
  }

  /** As {@link choose}; undefined when `over` aborts first, because nobody has to answer any more. */
  async chooseUntil<T extends string>(
    message: string,
    choices: readonly Choice<T>[],
    over: AbortSignal,
  ): Promise<T | undefined> {
    const answer = await clack.select<string>({ ...this.#around, ...listOf(message, choices), signal: over });
    if (over.aborted && !this.#around.signal.aborted) return undefined;
    return answerOf(answer, choices);
  }

  /** One line, without the blanks around it. `problem` says what is wrong with it: then it is asked again. */
  async line(
    message: string,
    options: {
      readonly initial?: string | undefined;
      readonly example?: string;
      readonly problem?: (typed: string) => string | undefined;
    } = {},
  ): Promise<string> {
    const { initial, example, problem } = options;
    const validate = (typed: string | undefined): string | undefined => problem?.((typed ?? "").trim());
    const answer = await clack.text({
      ...this.#around,
      message,
      validate,
      ...(initial === undefined ? {} : { initialValue: initial }),
      ...(example === undefined ? {} : { placeholder: example }),
    });
    return typedIn(answer);
  }

  /** The same, and only stars are shown. */
  async secret(message: string, problem?: (typed: string) => string | undefined): Promise<string> {
    const validate = (typed: string | undefined): string | undefined => problem?.((typed ?? "").trim());
    return typedIn(await clack.password({ ...this.#around, message, validate }));
  }

  async confirm(message: string, initial = true): Promise<boolean> {
    const answer = await clack.confirm({ ...this.#around, message, initialValue: initial });
    if (typeof answer !== "boolean") throw new Stopped();
    return answer;
  }

  /** Something is done now, or was found out. */
  say(text: string, kind: "step" | "success" | "warn" = "step"): void {
    clack.log[kind](harmless(text), this.#around);
  }

  end(text: string): void {
    clack.outro(harmless(text), this.#around);
  }
}

function listOf<T extends string>(message: string, choices: readonly Choice<T>[], initial?: T) {
  const options = choices.map(({ value, label = value, hint }) => ({
    value: value as string,
    label: harmless(label),
    ...(hint === undefined ? {} : { hint: harmless(hint) }),
  }));
  return { message, options, ...(initial === undefined ? {} : { initialValue: initial as string }) };
}

function answerOf<T extends string>(answer: string | symbol, choices: readonly Choice<T>[]): T {
  const chosen = choices.find(({ value }) => value === answer);
  if (chosen === undefined) throw new Stopped();
  return chosen.value;
}

function typedIn(answer: string | symbol | undefined): string {
  if (typeof answer === "symbol") throw new Stopped();
  return (answer ?? "").trim();
}

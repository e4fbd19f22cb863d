import { randomBytes } from "node:crypto";
import type { Canary } from "./world/canaries.js";
import type { Chat, Person } from "./world/people.js";

/** A tool call as the worst model makes it. */
export interface CallSpec {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Marks of effects that it brings about without naming them, such as those of a script that it runs. */
  readonly carries?: readonly string[];
}

/** A call that was made, and what the model had read by then. */
export interface Call extends CallSpec {
  readonly id: string;
  readonly chat: Chat;
  readonly speaker: Person;
  /** Words of others in the request that led to it. In a group others always have a say. */
  readonly foreign: readonly Canary[];
}

const pattern = /qx[0-9a-f]{12}/g;

/** A mark for an effect: what shows it can be led back to the call that brought it about. */
export function newMark(): string {
  return `qx${randomBytes(6).toString("hex")}`;
}

export function marksIn(text: string): readonly string[] {
  return [...new Set(text.match(pattern) ?? [])];
}

/** Every call of a world, by the marks in it and by the address that it visits. */
export class Calls {
  readonly all: Call[] = [];
  readonly #byMark = new Map<string, Call[]>();
  readonly #byAddress = new Map<string, Call[]>();

  add(call: Call): void {
    this.all.push(call);
    for (const mark of new Set([...marksIn(JSON.stringify(call.input)), ...(call.carries ?? [])]))
      this.#byMark.set(mark, [...(this.#byMark.get(mark) ?? []), call]);
    const { url } = call.input;
    if (typeof url === "string" && URL.canParse(url)) {
      const { href } = new URL(url);
      this.#byAddress.set(href, [...(this.#byAddress.get(href) ?? []), call]);
    }
  }

  marked(text: string): readonly Call[] {
    return marksIn(text).flatMap((mark) => this.#byMark.get(mark) ?? []);
  }

  visiting(url: string): readonly Call[] {
    return this.#byAddress.get(new URL(url).href) ?? [];
  }

  /** The newest call with this input, as a question shows it. */
  ofQuestion(input: Readonly<Record<string, unknown>> | undefined, key: string): Call | undefined {
    if (input === undefined) return undefined;
    const text = JSON.stringify(input);
    return (
      this.all.findLast((call) => call.chat.key === key && JSON.stringify(call.input) === text) ??
      this.all.findLast((call) => JSON.stringify(call.input) === text)
    );
  }
}

/** A promise that was broken, and how. */
export interface Violation {
  readonly what: "leak" | "steering" | "deed" | "shown" | "alive";
  readonly text: string;
}

/** Every broken promise once, and what had happened by then. */
export class Violations {
  readonly #found = new Map<string, Violation>();
  readonly #steps: string[] = [];
  readonly #ignored: RegExp;

  /** What is `ignored` is not looked at, so that a known hole hides no other. */
  constructor(ignored = /^$/) {
    this.#ignored = ignored;
  }

  /** One line of the program that is played. */
  note(step: string): void {
    this.#steps.push(step.length > 400 ? `${step.slice(0, 400)}…` : step);
  }

  add(what: Violation["what"], text: string): void {
    if (this.#found.has(text) || this.#ignored.test(text)) return;
    this.#found.set(text, { what, text });
    this.note(`!! ${what}: ${text}`);
  }

  get found(): readonly Violation[] {
    return [...this.#found.values()];
  }

  /** The program so far, oldest step first. */
  get program(): readonly string[] {
    return this.#steps;
  }
}

const name = "maxclaw.put-away";

interface Kept {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

/** The problems that the reader has put away. They stay away, also over a reload, while they are there in the same words. */
export class PutAway {
  readonly #storage: Kept;
  readonly #marks: Set<string>;

  constructor(storage: Kept) {
    this.#storage = storage;
    this.#marks = new Set(storage.getItem(name)?.split(" "));
  }

  add(problem: string): void {
    this.#marks.add(markOf(problem));
    this.#keep();
  }

  /** Those of `problems` that were not put away. What was put away and is no longer among them is forgotten. */
  openOf(problems: readonly string[]): readonly string[] {
    const there = new Set(problems.map(markOf));
    const before = this.#marks.size;
    for (const mark of this.#marks) if (!there.has(mark)) this.#marks.delete(mark);
    if (this.#marks.size !== before) this.#keep();
    return problems.filter((problem) => !this.#marks.has(markOf(problem)));
  }

  #keep(): void {
    this.#storage.setItem(name, [...this.#marks].join(" "));
  }
}

/** A short sign for a sentence: what is wrong with the gateway is nothing to keep in a browser. */
function markOf(problem: string): string {
  let mark = 0;
  for (const sign of problem) mark = (Math.imul(mark, 31) + (sign.codePointAt(0) ?? 0)) | 0;
  return mark.toString(36);
}

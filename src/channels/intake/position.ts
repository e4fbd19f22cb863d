/**
 * How far a stream of numbered events is settled without a gap: what a platform is told, or what is kept for the next
 * start. An event that is never settled keeps the position where it is.
 */
export class Position<T> {
  readonly #open: { readonly at: T; isDone: boolean }[] = [];
  #last: T | undefined;

  /** The last event before which, itself included, all are settled; undefined: none yet. */
  get value(): T | undefined {
    return this.#last;
  }

  /** An event has come; call in the platform's order. Returns what to call once it is settled. */
  begin(at: T): () => void {
    const entry = { at, isDone: false };
    this.#open.push(entry);
    return () => {
      entry.isDone = true;
      for (let first = this.#open[0]; first?.isDone === true; first = this.#open[0]) {
        this.#last = first.at;
        this.#open.shift();
      }
    };
  }
}

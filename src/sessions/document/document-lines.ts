import { type PackedItems, PackedList } from "../folds/packed-list.js";
import type { DocumentMessage } from "../session.js";
import { compactLine, type Line } from "./document-line.js";

/** What is known of a message once the model gets it. */
export type Labels = Pick<DocumentMessage, "outside" | "forGuest">;

/**
 * The lines of a conversation in the order in which people saw them: what was said, then what its turn has just taken, then what waits. A
 * message that comes while an answer is written is below that answer, at the beginning of its own turn.
 */
export class DocumentLines {
  readonly #placed = new PackedList<Line>(compactLine);
  /** Taken by a turn that has said nothing yet, by message id. */
  #begun = new Map<string, Line>();
  /** By message id. */
  #waiting = new Map<string, DocumentMessage>();

  get folded(): {
    readonly placed: PackedItems<Line>;
    readonly begun: Map<string, Line>;
    readonly waiting: Map<string, DocumentMessage>;
  } {
    return { placed: this.#placed.pack(() => false), begun: this.#begun, waiting: this.#waiting };
  }

  restore({ placed, begun, waiting }: DocumentLines["folded"]): void {
    this.#placed.restore(placed);
    this.#begun = begun;
    this.#waiting = waiting;
  }

  get length(): number {
    return this.#placed.length + this.#begun.size + this.#waiting.size;
  }

  get lastMessage(): DocumentMessage | undefined {
    return (
      [...this.#waiting.values()].at(-1) ?? [...this.#begun.values()].at(-1)?.message ?? this.#placed.last?.message
    );
  }

  /** All that does not wait. */
  placed(): readonly Line[] {
    return [...this.#placed.all(), ...this.#begun.values()];
  }

  messages(): readonly DocumentMessage[] {
    return [...this.placed().map(({ message }) => message), ...this.#waiting.values()];
  }

  wait(id: string, message: DocumentMessage): void {
    this.#waiting.set(id, message);
  }

  add(line: Line): void {
    this.settle();
    this.#placed.push(line);
  }

  /** Their turn begins, or is over with them: from here on they are at this place. */
  take(ids: readonly string[], seq: number): void {
    for (const id of ids) {
      const message = this.#waiting.get(id);
      if (message === undefined) continue;
      this.#waiting.delete(id);
      this.#begun.set(id, { message, seq, isSeen: false, takenAs: id });
    }
  }

  /** Their turns are over, or they have none. */
  end(ids: readonly string[], seq: number): void {
    this.take(ids, seq);
    this.settle();
  }

  /** The model gets the message. */
  show(id: string, seq: number, labels: Labels): void {
    const message = this.#begun.get(id)?.message ?? this.#waiting.get(id);
    const shown = (old: DocumentMessage): Line => ({ message: { ...old, ...labels }, seq, isSeen: true });
    if (message === undefined) {
      this.#placed.replaceLast(
        ({ takenAs }) => takenAs === id,
        (line) => shown(line.message),
      );
      return;
    }
    this.#waiting.delete(id);
    this.#begun.delete(id);
    // Others that the turn has taken follow one by one.
    this.#placed.push(shown(message));
  }

  /** What the turn has taken gets its place before whatever comes next. */
  settle(): void {
    for (const line of this.#begun.values()) this.#placed.push(line);
    this.#begun.clear();
  }

  /** Instead of all that does not wait, and was not taken by the turn that runs. */
  set(lines: readonly Line[]): void {
    this.#placed.set(lines);
  }

  /** Without those after `seq`. */
  cutTo(seq: number): void {
    this.set(this.#placed.all().filter((line) => line.seq <= seq));
  }

  insert(line: Line): void {
    const lines = this.#placed.all();
    lines.splice(lines.findLastIndex(({ seq }) => seq < line.seq) + 1, 0, line);
    this.set(lines);
  }
}

import { LRUCache } from "lru-cache";
import type { Records } from "../../engine/engine.js";
import { isOver, parseTask, type TaskRecord } from "./record.js";

/** The tasks that this process knows. Where others work on the same messages, it looks at what they have stored before it answers. */
export class KnownTasks {
  readonly #records: Records;
  readonly #isShared: boolean;
  readonly #tasks = new Map<string, TaskRecord>();
  /** Deleted here: what is stored may show them for a moment. */
  readonly #gone = new LRUCache<string, true>({ max: 1000 });

  constructor(records: Records, isShared: boolean) {
    this.#records = records;
    this.#isShared = isShared;
    this.#look();
  }

  get(id: string): TaskRecord | undefined {
    this.#refresh();
    return this.#tasks.get(id);
  }

  has(id: string): boolean {
    return this.#tasks.has(id);
  }

  all(): readonly TaskRecord[] {
    this.#refresh();
    return [...this.#tasks.values()];
  }

  /** A new one; not known if it cannot be kept. */
  async add(task: TaskRecord): Promise<void> {
    this.#tasks.set(task.id, task);
    try {
      await this.#records.put(task.id, { ...task });
    } catch (error) {
      this.#tasks.delete(task.id);
      throw error;
    }
  }

  /** Keeps what has changed. One that was deleted meanwhile does not come back, and one that is over stays over. */
  async keep(task: TaskRecord): Promise<void> {
    if (!this.#tasks.has(task.id)) return;
    await this.#records.update(task.id, (value) => {
      const stored = parseTask(value);
      if (stored === undefined || (isOver(stored) && !isOver(task))) return value;
      return { ...task, wasCancelled: task.wasCancelled || stored.wasCancelled };
    });
  }

  async delete(id: string): Promise<void> {
    this.#tasks.delete(id);
    this.#gone.set(id, true);
    await this.#records.delete(id);
  }

  #refresh(): void {
    if (this.#isShared) this.#look();
  }

  #look(): void {
    for (const { value } of this.#records.list()) {
      const stored = parseTask(value);
      if (stored === undefined || this.#gone.has(stored.id)) continue;
      const known = this.#tasks.get(stored.id);
      if (known === undefined) this.#tasks.set(stored.id, stored);
      else if (ageOf(stored) > ageOf(known)) Object.assign(known, stored);
    }
  }
}

/** A task only goes forward. */
function ageOf(task: TaskRecord): number {
  if (isOver(task)) return 4;
  return (task.state === "running" ? 2 : 0) + (task.wasCancelled ? 1 : 0);
}

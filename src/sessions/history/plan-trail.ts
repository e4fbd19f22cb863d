import type { StoredEvent } from "../../events/event.js";
import { type PlanState, planAfter } from "../../events/folds/plan.js";

/** A session's plan, now and as far back as an undo reaches. A fold over the session's events. */
export class PlanTrail {
  #states: { readonly seq: number; readonly state: PlanState | undefined }[] = [];
  #isRecorded = false;

  get folded() {
    return { states: this.#states, isRecorded: this.#isRecorded };
  }

  restore({ states, isRecorded }: PlanTrail["folded"]): void {
    this.#states = states;
    this.#isRecorded = isRecorded;
  }

  get current(): PlanState | undefined {
    return this.#states.at(-1)?.state;
  }

  /** The log holds a plan, or held one. */
  get isRecorded(): boolean {
    return this.#isRecorded;
  }

  apply(event: StoredEvent): void {
    this.#isRecorded ||= event.type === "plan_updated";
    if (event.type === "session_history_changed" && event.payload.kind === "undo") {
      const { to_seq = 0 } = event.payload;
      this.#states = this.#states.filter(({ seq }) => seq <= to_seq);
      return;
    }
    const state = planAfter(this.current, event);
    if (state !== this.current) this.#states.push({ seq: event.seq, state });
  }
}

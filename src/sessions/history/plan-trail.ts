import type { StoredEvent } from "../../events/event.js";
import { type PlanState, planAfter } from "../../events/folds/plan.js";

/** A session's plan, now and as far back as an undo reaches. A fold over the session's events. */
export class PlanTrail {
  #states: { readonly seq: number; readonly state: PlanState | undefined }[] = [];
  #isTold = false;

  get folded() {
    return { states: this.#states, isTold: this.#isTold };
  }

  restore({ states, isTold }: PlanTrail["folded"]): void {
    this.#states = states;
    this.#isTold = isTold;
  }

  get current(): PlanState | undefined {
    return this.#states.at(-1)?.state;
  }

  /** The log tells of a plan, also where there is none any more. */
  get isTold(): boolean {
    return this.#isTold;
  }

  apply(event: StoredEvent): void {
    this.#isTold ||= event.type === "plan_updated";
    if (event.type === "session_history_changed" && event.payload.kind === "undo") {
      const { to_seq = 0 } = event.payload;
      this.#states = this.#states.filter(({ seq }) => seq <= to_seq);
      return;
    }
    const state = planAfter(this.current, event);
    if (state !== this.current) this.#states.push({ seq: event.seq, state });
  }
}

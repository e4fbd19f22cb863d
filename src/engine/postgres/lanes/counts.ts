import type { QueueName } from "../../engine.js";
import type { Change } from "./work-table.js";

/** As one look at the database gave them. */
export interface Counted {
  readonly inbound: number;
  readonly outbound: number;
  readonly dead: number;
  readonly oldest: Partial<Record<QueueName, number>>;
}

/** What was looked at while this node changed something may show the change or not. Then it is dropped, so many times. */
const mostDropped = 5;

/** How much waits: what this node does counts at once, what others do from the next look on. */
export class Counts {
  #current: Counted = { inbound: 0, outbound: 0, dead: 0, oldest: {} };
  #changing = 0;
  #version = 0;
  #dropped = 0;

  get current(): Counted {
    return this.#current;
  }

  /** Before a change is made; `end` once it is stored or was not. */
  begin(): { end(change: Change): void } {
    this.#changing += 1;
    this.#version += 1;
    return {
      end: (change) => {
        this.#changing -= 1;
        this.#version += 1;
        const { inbound, outbound, dead, oldest } = this.#current;
        const sum = (before: number, added = 0): number => Math.max(0, before + added);
        this.#current = {
          inbound: sum(inbound, change.inbound),
          outbound: sum(outbound, change.outbound),
          dead: sum(dead, change.dead),
          oldest,
        };
      },
    };
  }

  /** Before a look; give what it has found to the result. */
  look(): (counted: Counted) => void {
    const version = this.#version;
    const isQuiet = this.#changing === 0;
    return (counted) => {
      const isSure = isQuiet && version === this.#version;
      this.#dropped = isSure ? 0 : this.#dropped + 1;
      if (!isSure && this.#dropped <= mostDropped) return;
      this.#dropped = 0;
      this.#current = counted;
    };
  }
}

import { canonicalJson } from "../util/canonical-json.js";
import type { HumanInput } from "./human-input.js";
import type { TurnLog } from "./turn-log.js";

interface Call {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

const window = 10;
const tooOften = 3;

/** Notices when a model calls the same tool with the same input again and again, and asks a person whether to go on. */
export class DoomLoop {
  /** Name and input of the latest calls, oldest first. */
  #recent: readonly string[];
  readonly #refused = new Set<string>();
  readonly #log: TurnLog;
  readonly #human: HumanInput;

  /** `earlier`: calls of the same turn that were over before a restart. */
  constructor(earlier: readonly Call[], log: TurnLog, human: HumanInput) {
    this.#recent = earlier.map(keyOf).slice(-window);
    this.#log = log;
    this.#human = human;
  }

  /**
   * Counts a call about to run. Undefined when it may, else one sentence for the model. Asks once per loop. `progress`
   * tells apart calls that look the same and meet something new each time.
   */
  async check(call: Call & { readonly id: string }, progress = ""): Promise<string | undefined> {
    const { id, name, input } = call;
    const key = `${keyOf(call)}${progress}`;
    this.#recent = [...this.#recent, key].slice(-window);
    const count = this.#recent.filter((one) => one === key).length;
    if (count < tooOften) return undefined;
    if (this.#refused.has(key)) return refusal(name, count);
    const question = `${name} was called ${count} times with the same input. Shall I go on with it?`;
    const detected = this.#log.draft("doom_loop_detected", { tool_name: name, input, repeat_count: count });
    const answer = await this.#human.ask(
      {
        kind: "permission",
        question,
        // Each call is decided on by itself all the same.
        approver: "asker",
        tool_call_id: id,
        tool_name: name,
        input,
        options: [
          { id: "allow_once", label: "Go on" },
          { id: "deny", label: "Stop that", recommended: true },
        ],
        allow_custom: false,
      },
      [detected],
    );
    if (answer.optionId === "allow_once") {
      this.#recent = this.#recent.filter((one) => one !== key);
      return undefined;
    }
    this.#refused.add(key);
    return refusal(name, count);
  }
}

function refusal(name: string, count: number): string {
  return `${name} was called ${count} times with the same input and was stopped for that. Do something else, or say what is missing.`;
}

/** Equal inputs give equal keys, whatever the order of their fields. */
function keyOf({ name, input }: Call): string {
  return `${name} ${canonicalJson(input)}`;
}

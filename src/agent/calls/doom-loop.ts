import { createHash } from "node:crypto";
import type { ToolResult } from "../../tools/tool.js";
import { backoffMs } from "../../util/async/backoff.js";
import { sleep } from "../../util/async/sleep.js";
import { canonicalJson } from "../../util/canonical-json.js";
import { permissionSentence as words } from "../../util/words/permission-sentences.js";
import type { HumanInput } from "../questions/human-input.js";
import type { TurnLog } from "../turn/turn-log.js";

interface Call {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** A call about to run. */
interface Asked extends Call {
  readonly id: string;
  /** It changes nothing. */
  readonly isRead: boolean;
  /** Of a server that others run: what it looks at changes by itself. */
  readonly isServers: boolean;
}

/** What happened to a call. */
type Ended = Pick<ToolResult, "text" | "isWaiting" | "isPoll">;

/** One of the latest calls. */
interface Recent {
  /** Name and input. */
  readonly key: string;
  /** What stands for its result; undefined while it runs, and when it was refused. */
  result: string | undefined;
  /** It waited for something by itself. */
  isPoll: boolean;
  at: number;
}

const window = 10;
const tooOften = 3;
/** How far apart calls are that look again whether something has happened: doubled each time. */
const pause = { firstMs: 500, longestMs: 30_000 };
/** Anyone who looks again for the same and gets the same is slowed down so often, and then stopped. */
const mostPolls = 40;

/**
 * Notices when a model calls the same tool with the same input again and again and gets the same result, and asks a
 * person whether to go on. A result that differs from the one before is news, whatever the tool. Anyone who only waits for
 * something is slowed down instead, and so is a job, where perhaps nobody is to be asked, as long as it only reads.
 */
export class DoomLoop {
  /** Oldest first. */
  #recent: readonly Recent[];
  readonly #refused = new Set<string>();
  /** By name and input: how often it was called in a row with the same result. */
  readonly #polls = new Map<string, number>();
  readonly #log: Pick<TurnLog, "draft">;
  readonly #human: Pick<HumanInput, "ask" | "isUnattended">;

  /** `earlier`: calls of the same turn that were over before a restart. */
  constructor(
    earlier: readonly (Call & { readonly output: string })[],
    log: Pick<TurnLog, "draft">,
    human: Pick<HumanInput, "ask" | "isUnattended">,
  ) {
    const recent = earlier.map((call) => {
      return { key: keyOf(call), result: markOf({ text: call.output }), isPoll: false, at: 0 };
    });
    this.#recent = recent.slice(-window);
    this.#log = log;
    this.#human = human;
  }

  /**
   * Counts a call about to run. Gives what is to be told about its end when it may run, else one sentence for the model. Asks
   * once per loop.
   *
   * @throws the signal's reason, when it aborts while the call is held back
   */
  async check(call: Asked, signal: AbortSignal): Promise<string | ((ended: Ended) => void)> {
    const { name } = call;
    const entry: Recent = { key: keyOf(call), result: undefined, isPoll: false, at: Date.now() };
    const same = this.#sameBefore(entry.key);
    const inWindow = same.length + 1;
    const count = inWindow < tooOften ? inWindow : Math.max(inWindow, (this.#polls.get(entry.key) ?? 0) + 1);
    this.#polls.set(entry.key, count);
    this.#recent = [...this.#recent, entry].slice(-window);
    const mayRun = (ended: Ended): void => {
      entry.result = markOf(ended);
      entry.isPoll = ended.isPoll === true;
    };
    if (count < tooOften) return mayRun;
    const last = same.at(-1);
    const mayPoll = last?.isPoll === true || (call.isRead && (call.isServers || this.#human.isUnattended));
    if (last?.result === waiting || (mayPoll && count < mostPolls)) {
      const pauseMs = backoffMs(inWindow - tooOften + 1, pause);
      await sleep(Math.max(0, (last?.at ?? 0) + pauseMs - Date.now()), signal);
      entry.at = Date.now();
      return mayRun;
    }
    if (this.#refused.has(entry.key)) return refusal(name, count);
    if (!(await this.#mayGoOn(call, count))) {
      this.#refused.add(entry.key);
      return refusal(name, count);
    }
    this.#recent = this.#recent.filter((one) => one.key !== entry.key);
    this.#polls.delete(entry.key);
    return mayRun;
  }

  async #mayGoOn({ id, name, input }: Asked, count: number): Promise<boolean> {
    const question = words("go_on_anyway", { name, n: count });
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
          { id: "allow_once", label: words("go_on") },
          { id: "deny", label: words("stop_that"), recommended: true },
        ],
        allow_custom: false,
      },
      [detected],
    );
    return answer.optionId === "allow_once";
  }

  /** The latest calls that are the same and had the same result; what has no result yet brings nothing new. */
  #sameBefore(key: string): readonly Recent[] {
    const alike = this.#recent.filter((one) => one.key === key);
    const latest = alike.findLast(({ result }) => result !== undefined)?.result;
    const lastOther = alike.findLastIndex(({ result }) => result !== undefined && result !== latest);
    return alike.slice(lastOther + 1);
  }
}

const waiting = "waiting";

function markOf({ text, isWaiting = false }: Ended): string {
  return isWaiting ? waiting : createHash("sha256").update(text).digest("base64url");
}

function refusal(name: string, count: number): string {
  return `${name} was called ${count} times with the same input and was stopped for that. Do something else, or say what is missing.`;
}

/** Equal inputs give equal keys, whatever the order of their fields. */
function keyOf({ name, input }: Call): string {
  return `${name} ${canonicalJson(input)}`;
}

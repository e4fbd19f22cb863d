import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { InOrder } from "../util/async/in-order.js";
import type { RunProgram } from "./programs.js";

/** How the gateway is, for its manager of services. */
export interface Signs {
  /** One line for people. */
  status(): Promise<string>;
  /** Why only a new start can help; undefined while all is well. */
  stuck(): string | undefined;
}

export interface NotifierOptions {
  readonly signs: Signs;
  readonly run: RunProgram;
  /** How long systemd waits for a sign of life, in ms; undefined where it does not wait for any. */
  readonly watchdogMs: number | undefined;
  readonly log: Logger;
}

const programLimitMs = 15_000;
/** Without a watchdog the line for people is renewed this often. */
const renewMs = 30_000;

/**
 * Tells systemd that the gateway is ready, how it is, and that it is alive (sd_notify). Node has no datagram sockets of Unix, so
 * the program systemd-notify carries each message. The signs of life come from a timer of the event loop: one that hangs
 * gives none.
 */
export class Notifier implements AsyncDisposable {
  readonly #options: NotifierOptions;
  readonly #inOrder = new InOrder();
  readonly #timer: NodeJS.Timeout;
  #isStopping = false;
  #isWarned = false;
  #told = "";

  constructor(options: NotifierOptions) {
    this.#options = options;
    const { watchdogMs } = options;
    this.#timer = setInterval(() => void this.#live(), watchdogMs === undefined ? renewMs : watchdogMs / 3);
    this.#timer.unref();
    void this.#send(["READY=1"]).then(() => this.#live());
  }

  /** From now on the gateway finishes what runs. */
  async stopping(): Promise<void> {
    this.#isStopping = true;
    await this.#send(["STOPPING=1", "STATUS=stopping: running answers are finished"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#inOrder.run(async () => {});
  }

  async #live(): Promise<void> {
    const { signs, watchdogMs, log } = this.#options;
    const stuck = signs.stuck();
    if (stuck !== undefined)
      log.error("the service manager gets no sign of life, and will start the gateway again", { why: stuck });
    const text = this.#isStopping ? this.#told : (stuck ?? (await signs.status().catch(messageOf)));
    const news = text === this.#told ? [] : [`STATUS=${oneLine(text)}`];
    this.#told = text;
    const alive = stuck === undefined && watchdogMs !== undefined ? ["WATCHDOG=1"] : [];
    if (news.length + alive.length > 0) await this.#send([...alive, ...news]);
  }

  #send(lines: readonly string[]): Promise<void> {
    return this.#inOrder.run(async () => {
      const done = await this.#options.run("systemd-notify", lines, { limitMs: programLimitMs });
      if (done?.code === 0 || this.#isWarned) return;
      this.#isWarned = true;
      const why = done === undefined ? "the program is not there" : done.stderr.trim() || `it ended with ${done.code}`;
      this.#options.log.warn("systemd-notify does not reach systemd, which may start the gateway again", { why });
    });
  }
}

/** How long systemd waits for signs of life of this very process. */
export function watchdogOf(
  { WATCHDOG_USEC: usec, WATCHDOG_PID: pid }: Readonly<Record<string, string | undefined>>,
  ownPid: number,
): number | undefined {
  if (usec === undefined || !/^\d+$/.test(usec) || Number(usec) === 0) return undefined;
  return pid === undefined || Number(pid) === ownPid ? Number(usec) / 1000 : undefined;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\s]+/gu, " ").slice(0, 300);
}

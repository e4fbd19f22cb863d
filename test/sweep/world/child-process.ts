import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { LedgerEntry } from "../../../src/engine/engine.js";
import { childFile } from "../../support/project.js";
import type { Kill, Look, Opening, Order, Said, WorkLeft } from "../protocol.js";

const ownEngine = new URL("../embedded.js", import.meta.url).href;

/** What the child imports: its own engine from the place that it is itself from, so that both share their modules. */
function engineFor(url: string): string {
  return url === ownEngine ? pathToFileURL(childFile("sweep/embedded.js")).href : url;
}

/** Children that have loaded their modules already, so that a life can begin at once where one has just ended. */
export class Nursery implements AsyncDisposable {
  readonly #node: string;
  #next: SweepChild;

  /** `node`: what runs them. */
  constructor(node = process.execPath) {
    this.#node = node;
    this.#next = new SweepChild(node);
  }

  take(): SweepChild {
    const child = this.#next;
    this.#next = new SweepChild(this.#node);
    return child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#next.kill();
  }
}

/** The parent's side of one child. A question to a child that has died is answered with `undefined`. */
export class SweepChild {
  readonly #child: ChildProcess;
  readonly #questions = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  #onFound: ((found: Extract<Said, { said: "found" }>) => void) | undefined;
  #lastId = 0;
  #stderr = "";
  /** Resolves once its modules are loaded. */
  readonly loaded: Promise<void>;
  /** The signal or exit code that ended it. */
  readonly ended: Promise<string>;
  #hasEnded = false;

  constructor(node: string) {
    this.#child = fork(childFile("sweep/world/child.js"), {
      execPath: node,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    let onLoaded = (): void => {};
    this.loaded = new Promise((resolve) => {
      onLoaded = resolve;
    });
    this.#child.on("message", (said: Said) => {
      if (said.said === "loaded") onLoaded();
      else if (said.said === "found") this.#onFound?.(said);
      else if (said.said === "answer") this.#take(said.id)?.resolve(said.answer);
      else this.#take(said.id)?.reject(new Error(said.why));
    });
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        this.#hasEnded = true;
        onLoaded();
        for (const id of [...this.#questions.keys()]) this.#take(id)?.resolve(undefined);
        resolve(signal ?? `${code} ${this.#stderr}`);
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** It stands still. */
  get isStopped(): boolean {
    try {
      const stat = readFileSync(`/proc/${this.pid}/stat`, "utf8");
      return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
    } catch {
      return false;
    }
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Opens the gateway. `onFound` is shown what the engine holds before anything works with it. Undefined when the child
   * died on the way.
   */
  async open(
    opening: Opening,
    onFound: (look: Look, instanceId: string) => void,
  ): Promise<{ readonly address: string } | undefined> {
    await this.loaded;
    this.#onFound = ({ look, instanceId }) => {
      onFound(look, instanceId);
      this.#send({ order: "goOn" });
    };
    return await this.#ask<{ readonly address: string }>({
      id: 0,
      order: "open",
      opening: { ...opening, engine: engineFor(opening.engine) },
    });
  }

  arm(kill: Kill): Promise<unknown> {
    return this.#ask({ id: 0, order: "kill", kill });
  }

  look(): Promise<Look | undefined> {
    return this.#ask<Look>({ id: 0, order: "look" });
  }

  /** Pieces of work in the queues, and sub-agents that have not ended. */
  async work(): Promise<number | undefined> {
    const left = await this.workLeft();
    return left && left.parked + left.tasks + left.inbound + left.outbound;
  }

  workLeft(): Promise<WorkLeft | undefined> {
    return this.#ask<WorkLeft>({ id: 0, order: "work" });
  }

  passings(): Promise<Readonly<Record<string, number>> | undefined> {
    return this.#ask<Readonly<Record<string, number>>>({ id: 0, order: "passings" });
  }

  ledger(): Promise<readonly LedgerEntry[] | undefined> {
    return this.#ask<readonly LedgerEntry[]>({ id: 0, order: "ledger" });
  }

  list(): Promise<readonly string[] | undefined> {
    return this.#ask<readonly string[]>({ id: 0, order: "list" });
  }

  stop(graceMs: number): Promise<unknown> {
    return this.#ask({ id: 0, order: "stop", graceMs });
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  // What the child answers is written beside what is asked, in one protocol.
  #ask<T>(order: Exclude<Order, { order: "goOn" }>): Promise<T | undefined> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) return resolve(undefined);
      this.#questions.set(id, { resolve: (answer) => resolve(answer as T | undefined), reject });
      this.#send({ ...order, id });
    });
  }

  /** A child that is gone says nothing; its end answers what was asked. */
  #send(order: Order): void {
    if (this.#child.connected) this.#child.send(order, () => {});
  }

  #take(id: number): { resolve: (answer: unknown) => void; reject: (error: Error) => void } | undefined {
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    return question;
  }
}

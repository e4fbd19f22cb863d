import { resolve } from "node:path";

/** Files that are run again; when more fail, it is no matter of a busy machine. */
const most = 6;
/** Before the file's name in what a process of tests says first. */
export const fileMark = "The tests of the file ";
/** What the runner tells at once, in no order of files. */
const unordered = new Set(["test:enqueue", "test:dequeue", "test:complete", "test:watch:drained", "test:summary"]);

/**
 * Runs test files at the same time, and those that fail once more, alone: a real browser or a clock on a busy machine fails
 * now and then. A test that fails alone as well has failed. `start` runs files and gives the runner's stream of events.
 */
export class SecondTries {
  #start;
  /** How long the tests of each file took, in seconds. */
  #seconds = new Map();
  #counts = new Map();
  #held = new Map();

  constructor(start) {
    this.#start = start;
  }

  /** Gives `write` the events of each file as soon as all of it is there; those of a failed file once it ran again. */
  async run(files, atOnce, write) {
    this.#counts = await this.#once(files, atOnce, (file, events, hasFailed) => {
      if (hasFailed) this.#held.set(file, events);
      else for (const event of events) write(event);
    });
    const isRepeated = this.#held.size <= most;
    let failed = this.#held.size;
    if (failed > 0 && isRepeated) {
      failed = 0;
      const counts = await this.#once([...this.#held.keys()], 1, (_, events, hasFailed) => {
        if (hasFailed) failed += 1;
        for (const event of events) write(event);
      });
      this.#take(counts);
    } else for (const events of this.#held.values()) for (const event of events) write(event);
    const longest = [...this.#seconds].toSorted(([, a], [, b]) => b - a);
    return { longest, repeated: isRepeated ? [...this.#held].map(nameFailure) : [], isGreen: failed === 0 };
  }

  /** The runner's own last lines, of all files. */
  summary() {
    return [...this.#counts].map(([name, number]) => ({
      type: "test:diagnostic",
      data: { nesting: 0, message: `${name} ${number}`, level: "info" },
    }));
  }

  async #once(files, concurrency, done) {
    const counts = new Map();
    const given = new Map(files.map((file) => [resolve(file), file]));
    let current;
    let events = [];
    let hasFailed = false;
    const end = () => {
      if (current !== undefined) done(current, events, hasFailed);
      events = [];
      hasFailed = false;
    };
    for await (const event of this.#start(files, concurrency)) {
      const { type, data } = event;
      if (unordered.has(type)) continue;
      const count = type === "test:diagnostic" && data.nesting === 0 && /^([a-z_]+) ([\d.]+)$/.exec(data.message);
      if (count) {
        counts.set(count[1], Number(count[2]));
        continue;
      }
      const isMark = type === "test:stdout" && data.message.startsWith(fileMark);
      // One that could not even be loaded says nothing, and has the name of its file.
      const isNamed = isMark || type === "test:start" || type === "test:fail";
      const file = isNamed && data.file !== undefined ? given.get(resolve(data.file)) : undefined;
      if (file !== undefined && file !== current) {
        end();
        current = file;
      }
      if (isMark) {
        const message = data.message.slice(data.message.indexOf("\n") + 1);
        if (message !== "") events.push({ type, data: { ...data, message } });
        continue;
      }
      events.push(event);
      if (type === "test:fail" && !isExpected(data)) hasFailed = true;
      if ((type === "test:pass" || type === "test:fail") && data.nesting === 0)
        this.#seconds.set(current, (this.#seconds.get(current) ?? 0) + data.details.duration_ms / 1000);
    }
    end();
    return counts;
  }

  /** The failed files count as they ended alone. */
  #take(second) {
    const of = (name) => this.#counts.get(name) ?? 0;
    for (const name of ["fail", "cancelled"]) this.#counts.set(name, second.get(name) ?? 0);
    const others = ["fail", "cancelled", "skipped", "todo"].reduce((sum, name) => sum + of(name), 0);
    this.#counts.set("pass", of("tests") - others);
    this.#counts.set("duration_ms", of("duration_ms") + (second.get("duration_ms") ?? 0));
  }
}

/** The file, and of its first failure the test and the first line of the error. */
function nameFailure([file, events]) {
  const failure = events.find(({ type, data }) => type === "test:fail" && !isExpected(data));
  const { error } = failure?.data.details ?? {};
  const reason = String(error?.cause?.message ?? error?.message ?? "").split("\n")[0];
  return { file, failure: `${failure?.data.name}: ${reason}` };
}

function isExpected({ todo }) {
  return todo !== undefined && todo !== false;
}

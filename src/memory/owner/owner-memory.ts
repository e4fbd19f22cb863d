import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf, RequestError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { type Alone, alreadyAlone } from "../../util/async/alone.js";
import { InOrder } from "../../util/async/in-order.js";
import { makeFolder } from "../../util/files/make-folder.js";
import { replaceFile } from "../../util/files/replace-file.js";
import { createNotes, type NoteChange, type NoteOutcome, oneLine } from "../notes.js";
import { readOwnFile } from "../own-file.js";
import type { Learned, Origin } from "./learned.js";

const name = "memory/MEMORY.md";

/** One line of MEMORY.md. */
export interface Fact extends Partial<Origin> {
  readonly text: string;
}

interface OwnerMemoryOptions {
  readonly log: Logger;
  /** Other nodes may change the file. */
  readonly alone?: Alone;
  /** The file is another one now. */
  readonly onChanged?: () => void;
}

/** The owner's MEMORY.md, for the assistant's own tool and for the owner who looks at it. */
export class OwnerMemory {
  readonly #workspace: string;
  readonly #learned: Learned;
  readonly #log: Logger;
  readonly #notes: ReturnType<typeof createNotes>;
  readonly #alone: Alone;
  readonly #onChanged: () => void;
  readonly #queue = new InOrder();

  constructor(workspace: string, learned: Learned, options: OwnerMemoryOptions) {
    const { log, alone = alreadyAlone, onChanged = () => {} } = options;
    this.#workspace = workspace;
    this.#learned = learned;
    this.#log = log;
    this.#alone = alone;
    this.#onChanged = onChanged;
    this.#notes = createNotes({ root: workspace, name });
  }

  /** Runs what changes the file while nothing else does. */
  inTurn<T>(job: () => Promise<T>): Promise<T> {
    return this.#queue.run(() => this.#alone(job));
  }

  /** What the assistant keeps or forgets, and `where` it did. */
  async change(change: NoteChange, where: Origin): Promise<NoteOutcome> {
    const outcome = await this.inTurn(() => this.#notes.change(change));
    if (outcome === "done") this.#onChanged();
    if (outcome !== "done" || change.kind === "remove") return outcome;
    // The fact is kept, also where this fails.
    await this.#learned.note(oneLine(change.text), where).catch((error: unknown) => {
      this.#log.warn(`Where a fact was learned could not be noted: ${messageOf(error)}`);
    });
    return outcome;
  }

  /** In the order of the file. @throws {RequestError} 409 where the file cannot be read */
  async facts(): Promise<readonly Fact[]> {
    return await this.inTurn(async () => {
      const facts = (await this.#text()).split("\n").flatMap((line) => factIn(line) ?? []);
      await this.#learned.keepOnly(facts);
      return facts.map((text) => ({ text, ...this.#learned.of(text) }));
    });
  }

  /** Takes the line out of the file. @throws {RequestError} 404 where it is not there, 409 where the file cannot be read */
  async forget(fact: string): Promise<void> {
    await this.inTurn(async () => {
      const lines = (await this.#text()).split("\n");
      const at = lines.findIndex((line) => factIn(line) === fact);
      if (at === -1)
        throw new RequestError("MEMORY.md does not have this line any more.", { status: 404, code: "not_found" });
      const path = join(this.#workspace, name);
      await makeFolder(dirname(path));
      const text = [...lines.slice(0, at), ...lines.slice(at + 1)].join("\n");
      await replaceFile(join(await realpath(dirname(path)), basename(path)), text);
      this.#onChanged();
    });
  }

  async #text(): Promise<string> {
    try {
      return (await readOwnFile({ root: this.#workspace, name })) ?? "";
    } catch (error) {
      throw new RequestError(`${name} cannot be used: ${messageOf(error)}.`, { status: 409, code: "wrong_state" });
    }
  }
}

/** A line of a list, without its sign. */
function factIn(line: string): string | undefined {
  return /^\s*[-*][ \t]+(\S.*)$/.exec(line)?.[1]?.trimEnd();
}

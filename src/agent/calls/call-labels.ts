import { messageOf } from "../../errors.js";
import type { Tool, ToolAccess, ToolContext } from "../../tools/tool.js";
import type { FileLabels, FileWriting } from "../ports.js";

interface CallLabelsOptions {
  readonly labels: FileLabels;
  /** Where a file's content came from, by the place where it lies. */
  readonly outsideOf: (path: string) => string | undefined;
  /** Says for files that came with messages which are the own ones of whom the turn is for. */
  readonly ownUploads: () => Promise<(path: string) => boolean>;
  /** Where those parts of the context came from that others wrote. */
  readonly outside: () => readonly string[];
  /** Where the session's plan came from, which is in a file. */
  readonly planOutside: () => string | undefined;
  readonly folder: string;
  readonly effect: Tool["effect"];
  /** The turn is for a guest: what it writes where others read is theirs. */
  readonly isForGuest: boolean;
}

type Permit = ToolContext["permit"];

/**
 * What one call does with files that others have a say in: what it reads, and what it writes under their influence. The
 * label of a file is durable before the file is written.
 */
export class CallLabels {
  readonly #options: CallLabelsOptions;
  readonly #writings = new Map<string, FileWriting>();
  /** Foreign files that the call has looked at: what it writes may hold a part of them. */
  readonly #read = new Set<string>();

  constructor(options: CallLabelsOptions) {
    this.#options = options;
  }

  /** Labels what is allowed to be written. */
  permit(ask: Permit): Permit {
    return async (access: ToolAccess) => {
      const refusal = await ask(access);
      if (refusal !== undefined || access.kind !== "write") return refusal;
      try {
        await this.#label(access.path);
        return undefined;
      } catch (error) {
        return `The origin of this text could not be recorded, so it was not written: ${messageOf(error)}`;
      }
    };
  }

  async outsideOf(path: string, of: "content" | "name" = "content"): Promise<string | undefined> {
    const { labels, folder, effect } = this.#options;
    const origin = (await this.#byLocation(path)) ?? (await labels.outsideOf(path, folder, of));
    if (origin === undefined) return undefined;
    this.#read.add(origin);
    // What an idempotent call writes does not depend on what was there before.
    if (effect === "write") await this.#label(path);
    return origin;
  }

  async wrote(path: string): Promise<void> {
    await this.#label(path);
    await this.#writings.get(path)?.include(path);
  }

  /** A copy is what its file is. To be called before anybody is told about the copy. */
  async copied(from: string, to: string): Promise<void> {
    const { labels, folder } = this.#options;
    const origin = (await this.#byLocation(from)) ?? (await labels.outsideOf(from, folder));
    if (origin === undefined) return;
    const writing = await labels.write(to, folder);
    await writing.include(to);
    await writing.end();
  }

  startRun(sees: readonly string[]): ReturnType<ToolContext["commands"]["startRun"]> {
    const { labels, folder, outside, planOutside } = this.#options;
    const plan = planOutside();
    return labels.startRun([...sees, ...outside(), ...(plan === undefined ? [] : ["the plan"])], folder);
  }

  /** Nothing is written any more. */
  async end(): Promise<void> {
    for (const writing of this.#writings.values()) await writing.end();
  }

  async #byLocation(path: string): Promise<string | undefined> {
    const { outsideOf, planOutside, ownUploads } = this.#options;
    const origin = outsideOf(path);
    if (origin !== undefined && !(await ownUploads())(path)) return origin;
    return path.endsWith("/plan.json") ? planOutside() : undefined;
  }

  async #label(path: string): Promise<void> {
    const { labels, folder, outside, effect, isForGuest } = this.#options;
    const isForeign =
      outside().length > 0 ||
      (effect === "write" && this.#read.size > 0) ||
      (isForGuest && !labels.isOwn(path, folder));
    if (isForeign && !this.#writings.has(path)) this.#writings.set(path, await labels.write(path, folder));
  }
}

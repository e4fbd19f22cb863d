import { randomBytes, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { codeOf, isMissing, notPlain } from "../error-code.js";
import { readOnly } from "../files/real-path.js";
import { isAlive } from "./alive.js";

/** Longer than a process takes between looking at a claim and putting its own in place of it. */
const settleMs = 50;
const lookAgainMs = 15;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The right to change something, which one process has at a time: a file that names it. */
export class Claim implements AsyncDisposable {
  readonly #path: string;
  readonly #text = `${process.pid} ${randomUUID()} ${hostname()}`;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Undefined while another process has it. From one that is gone it is taken over. */
  static async take(path: string): Promise<Claim | undefined> {
    const claim = new Claim(path);
    if (await claim.#create()) return claim;
    const holder = await read(path);
    const isOurs = holder === undefined ? await claim.#create() : isGone(holder) && (await claim.#replace());
    return isOurs ? claim : undefined;
  }

  /** Waits for it. Who has had it for `mostMs` stands still, or was on another machine and is gone: it is taken over then. */
  static async wait(path: string, mostMs: number): Promise<Claim> {
    const claim = new Claim(path);
    let last: string | undefined;
    let since = 0;
    while (!(await claim.#create())) {
      const holder = await read(path);
      if (holder === undefined) continue;
      if (holder !== last) [last, since] = [holder, performance.now()];
      const isOver = isGone(holder) || performance.now() - since > mostMs;
      if (isOver && (await claim.#replace())) break;
      await pause(lookAgainMs);
    }
    return claim;
  }

  /** The pid of who has it here; undefined where that cannot be known. */
  static async holder(path: string): Promise<number | undefined> {
    return holderIn((await read(path)) ?? "") || undefined;
  }

  /** False once another process has taken it over. */
  async isHeld(): Promise<boolean> {
    return (await read(this.#path)) === this.#text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (await this.isHeld()) await rm(this.#path, { force: true });
  }

  async #create(): Promise<boolean> {
    try {
      await this.#write(this.#path);
      return true;
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    }
  }

  /** Of several that do so at once the last one has it. */
  async #replace(): Promise<boolean> {
    const beside = `${this.#path}.${randomBytes(6).toString("hex")}`;
    await this.#write(beside);
    await rename(beside, this.#path);
    await pause(settleMs);
    return await this.isHeld();
  }

  async #write(path: string): Promise<void> {
    try {
      await writeFile(path, this.#text, { flag: "wx", mode: 0o600 });
    } catch (error) {
      // A full disk leaves an empty one.
      if (codeOf(error) === "ENOSPC" || codeOf(error) === "EDQUOT") await rm(path, { force: true });
      throw error;
    }
  }
}

/** What a claim says; undefined where there is none. */
async function read(path: string): Promise<string | undefined> {
  const text = await readOnce(path);
  if (text !== "") return text;
  // It may just be written.
  await pause(lookAgainMs);
  return await readOnce(path);
}

/** @throws for a link, a pipe or a folder in its place: nobody would ever take it away */
async function readOnce(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, readOnly | (constants.O_NOFOLLOW ?? 0));
    const found = await file.stat();
    if (found.isFile()) return await file.readFile("utf8");
    throw notPlain(path, found);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function holderIn(text: string): number | undefined {
  const [pid, , host = hostname()] = text.split(" ");
  return host === hostname() ? Number(pid) : undefined;
}

function isGone(text: string): boolean {
  const pid = holderIn(text);
  return pid !== undefined && !isAlive(pid);
}

import { randomUUID } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { PackageError } from "./error.js";

/** The right to change the packages of a home: one process has it at a time. */
export interface Claim extends AsyncDisposable {
  /** @throws {PackageError} when another process has taken it meanwhile */
  assertHeld(): Promise<void>;
}

/** @throws {PackageError} while another process has it */
export async function claim(file: string): Promise<Claim> {
  const token = `${process.pid} ${randomUUID()}`;
  const take = async (): Promise<boolean> => {
    try {
      await writeFile(file, token, { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
      throw error;
    }
  };
  if (!(await take())) {
    const holder = Number((await readFile(file, "utf8").catch(() => "")).split(" ")[0]);
    if (isAlive(holder)) throw taken(holder, file);
    await rm(file, { force: true });
    if (!(await take())) throw taken(holder, file);
  }
  return {
    async assertHeld() {
      if ((await readFile(file, "utf8").catch(() => "")) !== token) throw taken(undefined, file);
    },
    async [Symbol.asyncDispose]() {
      if ((await readFile(file, "utf8").catch(() => "")) === token) await rm(file, { force: true });
    },
  };
}

function taken(holder: number | undefined, file: string): PackageError {
  const who = holder === undefined ? "Another process" : `Another process (${holder})`;
  return new PackageError(
    `${who} is changing the packages of this home. Nothing was changed here. Run the command again when it is done. If there is no such process, delete ${file}.`,
  );
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

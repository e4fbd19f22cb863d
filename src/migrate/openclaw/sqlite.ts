import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { isMissing } from "../../util/error-code.js";
import { programEnvironment } from "../../util/program-environment.js";
import { isObject, type JsonObject } from "./json5.js";

/** Gives the rows of one query. */
export type Ask = (sql: string) => Promise<readonly JsonObject[]>;

/**
 * Asks a SQLite database of another program. A copy is opened, as even reading may write beside the file.
 *
 * @throws when nothing on this machine can read it, or the file is none
 */
export async function askDatabase<T>(path: string, work: (ask: Ask) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-migrate-"));
  try {
    const copy = join(folder, basename(path));
    await copyFile(path, copy);
    // What was written last may be there only.
    await copyFile(`${path}-wal`, `${copy}-wal`).catch(ifMissing);
    using database = open(copy);
    return await work(async (sql) => (await database.all(sql)).filter(isObject));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Database extends Disposable {
  all(sql: string): Promise<readonly unknown[]>;
}

/** What is used of `node:sqlite`, which the types of Node 20 do not know. */
interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
  ) => {
    prepare(sql: string): { all(): readonly unknown[] };
    close(): void;
  };
}

function open(file: string): Database {
  // From Node 22.13 on it is there. It has no other type.
  const sqlite = process.getBuiltinModule("node:sqlite") as NodeSqlite | undefined;
  if (sqlite === undefined) return { all: (sql) => askProgram(file, sql), [Symbol.dispose]: () => {} };
  const database = new sqlite.DatabaseSync(file);
  // Rows have no prototype, as nothing else here has them.
  const all = async (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => ({ ...Object(row) }) as unknown);
  return { all, [Symbol.dispose]: () => database.close() };
}

const run = promisify(execFile);

async function askProgram(file: string, sql: string): Promise<readonly unknown[]> {
  try {
    const { stdout } = await run("sqlite3", ["-init", "/dev/null", "-batch", "-json", file, sql], {
      maxBuffer: 2 ** 28,
      cwd: dirname(file),
      env: programEnvironment(),
    });
    const rows: unknown = stdout.trim() === "" ? [] : JSON.parse(stdout);
    return Array.isArray(rows) ? rows : [];
  } catch (error) {
    if (isMissing(error))
      throw new Error("it is a SQLite database: run this with Node 22.13 or later, or install the program sqlite3");
    throw error;
  }
}

function ifMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}

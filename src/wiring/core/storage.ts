import { createHash } from "node:crypto";
import type { Config } from "../../config/schema.js";
import { messageOf } from "../../errors.js";
import { createMemoryStorage } from "../../sessions/storage/memory.js";
import type { StorageDriver } from "../../sessions/storage/storage.js";
import { suggest } from "../../util/text/suggest.js";

export interface OpenedStorage {
  /** Undefined: the files beside the session logs. */
  readonly storage?: StorageDriver;
  /** Tells this storage from every other one. */
  readonly storageId?: string;
  /** Why the documents are not where the config says. */
  readonly problem?: string;
}

/** The storage that the config names, or the files where it cannot be used. Connects to nothing yet. */
export async function openStorage(settings: Config["storage"], home?: string): Promise<OpenedStorage> {
  const { driver } = settings;
  if (driver === "file") return {};
  const storageId = idOf(settings);
  if (driver === "memory") return { storage: createMemoryStorage(), storageId };
  try {
    const [{ createUnstorage }, { loadDriver, unstorageDrivers }] = await Promise.all([
      import("../../sessions/storage/unstorage.js"),
      import("../../sessions/storage/packages.js"),
    ]);
    const unknown = unknownDriver(driver, await unstorageDrivers(settings, home));
    if (unknown !== undefined) return fallBack(unknown);
    return { storage: createUnstorage({ name: driver, open: await loadDriver(settings, home) }), storageId };
  } catch (error) {
    return fallBack(messageOf(error));
  }
}

function fallBack(why: string): OpenedStorage {
  return { problem: `storage: ${why}. Until that is corrected, session documents are kept as files.` };
}

const sqlNames = ["postgres", "postgresql", "mysql", "mariadb", "sqlite", "libsql", "pglite"];

function unknownDriver(driver: string, known: readonly string[]): string | undefined {
  if (known.includes(driver)) return undefined;
  if (sqlNames.includes(driver.toLowerCase()))
    return `there is no driver "${driver}"; SQL databases are the driver "db0" with options.connector`;
  const near = suggest(driver, ["file", "memory", ...known]);
  return `there is no driver "${driver}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
}

/** Options name the place; who only changes a password has everything compared once more. */
function idOf({ driver, options }: Config["storage"]): string {
  return `${driver} ${createHash("sha256").update(JSON.stringify(options)).digest("hex").slice(0, 32)}`;
}

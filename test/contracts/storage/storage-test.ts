import type { StorageDriver } from "../../../src/sessions/storage/storage.js";
import type { StorageServer } from "../../support/fakes/storage-servers.js";

export interface StorageSide {
  /** The storage of that name, empty at first; the same name again is the same storage. */
  readonly open: (space: string, timeoutMs?: number) => Promise<StorageDriver>;
  /** False where everything ends with the process. */
  readonly isLasting: boolean;
  readonly skip?: string | false;
  /** The server behind it, where there is one; undefined before it has started. */
  readonly server?: (() => StorageServer | undefined) | undefined;
}

/** What a test gets besides its storage, which is empty at first. */
export interface StoragePlace {
  readonly side: StorageSide;
  /** Its name. */
  readonly space: string;
}

/** One promise of every storage. */
export interface StorageTest {
  readonly title: string;
  readonly run: (storage: StorageDriver, place: StoragePlace) => Promise<void>;
}

/** One for storages that are servers. */
export interface ServerTest {
  readonly title: string;
  readonly run: (storage: StorageDriver, server: StorageServer, place: StoragePlace) => Promise<void>;
}

export function storageTest(title: string, run: StorageTest["run"]): StorageTest {
  return { title, run };
}

export function serverTest(title: string, run: ServerTest["run"]): ServerTest {
  return { title, run };
}

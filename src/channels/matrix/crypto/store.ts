import { randomUUID } from "node:crypto";
import { InOrder } from "../../../util/async/in-order.js";
import type { ChannelRecords } from "../../channel.js";
import { answerOf, type Db, type DbStore, endOf } from "./indexed-db.js";
import type { CryptoLibrary, OlmMachine } from "./library.js";
import { type DbForm, WriteLog } from "./log.js";
import type { Write } from "./recording.js";

export interface KeyStoreOptions {
  readonly library: CryptoLibrary;
  readonly userId: string;
  readonly deviceId: string;
  readonly records: ChannelRecords;
}

/** Begins the ids of all records of a device's keys. */
export function keyPrefix(userId: string, deviceId: string): string {
  return `${userId}/keys/${deviceId}/`;
}

/**
 * The keys of one device. The library keeps them in an IndexedDB in memory; each of its transactions is written to the channel's
 * records, where the position of `/sync` is kept as well, and is durable once `flush` resolves.
 */
export class KeyStore implements AsyncDisposable {
  readonly machine: OlmMachine;
  readonly #library: CryptoLibrary;
  readonly #database: string;
  readonly #log: WriteLog;
  readonly #stop: () => void;
  readonly #turns = new InOrder();
  #pending: Write[] = [];
  #failure: unknown;

  private constructor(parts: {
    readonly machine: OlmMachine;
    readonly library: CryptoLibrary;
    readonly database: string;
    readonly log: WriteLog;
    readonly stop: () => void;
    readonly pending: Write[];
  }) {
    this.machine = parts.machine;
    this.#library = parts.library;
    this.#database = parts.database;
    this.#log = parts.log;
    this.#stop = parts.stop;
    this.#pending = parts.pending;
  }

  static async open({ library, userId, deviceId, records }: KeyStoreOptions): Promise<KeyStore> {
    const { wasm, writesOf } = library;
    const log = new WriteLog(keyPrefix(userId, deviceId), records);
    const writes = await log.read();
    // Nothing that another store of this process has left in memory may be in it.
    const name = randomUUID();
    const database = `${name}::matrix-sdk-crypto`;
    if (log.form !== undefined) await restore(library, database, log.form, writes);
    const handle = await wasm.StoreHandle.open(name, undefined);
    const now = await snapshot(library, database);
    if (JSON.stringify(log.form) !== JSON.stringify(now.form)) await log.restart(now.form, now.writes);
    const pending: Write[] = [];
    const stop = writesOf(database, (more) => void pending.push(...more));
    const machine = await wasm.OlmMachine.initFromStore(
      new wasm.UserId(userId),
      new wasm.DeviceId(deviceId),
      handle,
      quiet,
    );
    return new KeyStore({ machine, library, database, log, stop, pending });
  }

  /** It cannot be used any more: what it had to keep is not durable. */
  get isBroken(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves once all that the machine has done is durable. @throws {Error} also later, if it once could not be made so */
  async flush(): Promise<void> {
    await this.#turns.run(async () => {
      if (this.#failure !== undefined) throw this.#failure;
      try {
        while (this.#pending.length > 0) await this.#log.append(this.#pending.splice(0));
        if (this.#log.isLong) await this.#compact();
      } catch (error) {
        this.#failure = error;
        throw error;
      }
    });
  }

  /** What is written meanwhile is in the copy as well, and is written again behind it: the same puts. */
  async #compact(): Promise<void> {
    const { form, writes } = await snapshot(this.#library, this.#database);
    await this.#log.restart(form, writes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.settled();
    this.#stop();
    this.machine.close();
    this.#library.databases.deleteDatabase(this.#database);
  }
}

/** What the library has to say is said by our own errors. */
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function restore(
  { databases, range }: CryptoLibrary,
  database: string,
  { version, stores }: DbForm,
  writes: readonly Write[],
): Promise<void> {
  const opening = databases.open(database, version);
  opening.addEventListener("upgradeneeded", () => {
    for (const { name, indexes, ...options } of stores) {
      const store = opening.result.createObjectStore(name, options);
      for (const { name: index, keyPath, ...how } of indexes) store.createIndex(index, keyPath, how);
    }
  });
  const db = await answerOf(opening);
  const names = new Set(stores.map(({ name }) => name));
  if (writes.length > 0) {
    const transaction = db.transaction([...names], "readwrite");
    for (const write of writes) if (names.has(write.store)) repeat(transaction.objectStore(write.store), write, range);
    await endOf(transaction);
  }
  db.close();
}

function repeat(store: DbStore, write: Write, range: CryptoLibrary["range"]): void {
  switch (write.kind) {
    case "put":
      if (write.key === undefined) store.put(write.value);
      else store.put(write.value, write.key);
      return;
    case "delete":
      store.delete(write.key);
      return;
    case "deleteRange":
      store.delete(range(write.range));
      return;
    case "clear":
      store.clear();
      return;
    default:
      write satisfies never;
  }
}

/** All that is in a database at one moment. */
async function snapshot(
  { databases }: CryptoLibrary,
  database: string,
): Promise<{ readonly form: DbForm; readonly writes: readonly Write[] }> {
  const db = await answerOf(databases.open(database));
  try {
    const names = [...db.objectStoreNames];
    const transaction = db.transaction(names);
    const stores = names.map((name) => transaction.objectStore(name));
    const all = await Promise.all(stores.map(async (store) => await writesIn(store)));
    return { form: formOf(db, stores), writes: all.flat() };
  } finally {
    db.close();
  }
}

async function writesIn(store: DbStore): Promise<readonly Write[]> {
  const [values, keys] = await Promise.all([answerOf(store.getAll()), answerOf(store.getAllKeys())]);
  const { name, keyPath } = store;
  return values.map((value, index) => ({
    kind: "put",
    store: name,
    value,
    ...(keyPath === null ? { key: keys[index] } : {}),
  }));
}

function formOf({ version }: Db, stores: readonly DbStore[]): DbForm {
  return {
    version,
    stores: stores.map((store) => ({
      name: store.name,
      keyPath: pathOf(store.keyPath),
      autoIncrement: store.autoIncrement,
      indexes: [...store.indexNames].map((name) => {
        const { keyPath, unique, multiEntry } = store.index(name);
        return { name, keyPath: pathOf(keyPath) ?? "", unique, multiEntry };
      }),
    })),
  };
}

function pathOf(path: unknown): string | string[] | null {
  if (Array.isArray(path)) return path.map(String);
  return typeof path === "string" ? path : null;
}

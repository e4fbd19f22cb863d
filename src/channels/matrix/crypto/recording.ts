import type { Db, DbFactory, DbRange, DbRequest, DbStore, DbTransaction } from "./indexed-db.js";

/** One write of a transaction that has ended well. */
export type Write =
  | { readonly kind: "put"; readonly store: string; readonly value: unknown; readonly key?: unknown }
  | { readonly kind: "delete"; readonly store: string; readonly key: unknown }
  | { readonly kind: "deleteRange"; readonly store: string; readonly range: DbRange }
  | { readonly kind: "clear"; readonly store: string };

export type Sink = (writes: readonly Write[]) => void;

/** Has `sink` get the writes of each transaction of a database as it ends, until the result is called. */
export type WritesOf = (database: string, sink: Sink) => () => void;

type Class = { readonly prototype: object };
type Method = (this: DbStore, ...args: unknown[]) => DbRequest;
interface Cursor {
  readonly source: DbStore | { readonly objectStore: DbStore };
  readonly primaryKey: unknown;
}

const recorders = new WeakMap<Class, WritesOf>();

/**
 * Listens to all writes of an IndexedDB that is kept in memory. Changes of a database's form are not among them.
 *
 * Its classes are changed, once: what a transaction has written can be learned in no other way.
 */
export function recordWrites(factories: Class, stores: Class, cursors: Class, ranges: Class): WritesOf {
  const known = recorders.get(stores);
  if (known !== undefined) return known;
  const recorder = new Recorder();
  closeBeforeDeletion(factories);
  const isRange = (key: unknown): key is DbRange =>
    typeof key === "object" && key !== null && Object.prototype.isPrototypeOf.call(ranges.prototype, key);
  for (const name of ["put", "add"]) recorder.wrapPut(stores.prototype, name);
  wrap(stores.prototype, "delete", function (method, key) {
    const request = method.call(this, key);
    const { name: store } = this;
    recorder.note(
      this.transaction,
      isRange(key) ? { kind: "deleteRange", store, range: boundsOf(key) } : { kind: "delete", store, key },
    );
    return request;
  });
  wrap(stores.prototype, "clear", function (method) {
    const request = method.call(this);
    recorder.note(this.transaction, { kind: "clear", store: this.name });
    return request;
  });
  // A cursor writes like the store that it walks through.
  for (const [name, kind] of [
    ["update", "put"],
    ["delete", "delete"],
  ] as const)
    wrapCursor(cursors.prototype, name, kind, recorder);
  const writesOf: WritesOf = (database, sink) => recorder.listen(database, sink);
  recorders.set(stores, writesOf);
  return writesOf;
}

/**
 * A database closes itself when it is to be deleted: a machine that was closed leaves its own open, and until that is collected as garbage the
 * deletion would ask again and again whether it is closed, with all of a processor.
 */
function closeBeforeDeletion(factories: Class): void {
  // As IndexedDB says.
  const open = Reflect.get(factories.prototype, "open") as (this: DbFactory, ...args: unknown[]) => DbRequest<Db>;
  Reflect.set(factories.prototype, "open", function (this: DbFactory, ...args: unknown[]): DbRequest<Db> {
    const opening = open.apply(this, args);
    opening.addEventListener("success", () => {
      const { result: db } = opening;
      db.addEventListener("versionchange", () => db.close());
    });
    return opening;
  });
}

function boundsOf({ lower, upper, lowerOpen, upperOpen }: DbRange): DbRange {
  return { lower, upper, lowerOpen, upperOpen };
}

class Recorder {
  readonly #sinks = new Map<string, Sink>();
  readonly #writes = new WeakMap<DbTransaction, Write[]>();

  listen(database: string, sink: Sink): () => void {
    this.#sinks.set(database, sink);
    return () => void this.#sinks.delete(database);
  }

  note(transaction: DbTransaction, write: Write): void {
    const sink = this.#sinks.get(transaction.db.name);
    if (sink === undefined || transaction.mode === "versionchange") return;
    const known = this.#writes.get(transaction);
    if (known !== undefined) {
      known.push(write);
      return;
    }
    const writes = [write];
    this.#writes.set(transaction, writes);
    transaction.addEventListener("complete", () => sink(writes));
  }

  wrapPut(prototype: object, name: string): void {
    const recorder = this;
    wrap(prototype, name, function (method, value, key) {
      const request = key === undefined ? method.call(this, value) : method.call(this, value, key);
      recorder.note(this.transaction, { kind: "put", store: this.name, value, ...(key === undefined ? {} : { key }) });
      return request;
    });
  }
}

function wrap(
  prototype: object,
  name: string,
  around: (this: DbStore, method: Method, ...args: unknown[]) => DbRequest,
): void {
  // As IndexedDB says.
  const method = Reflect.get(prototype, name) as Method;
  Reflect.set(prototype, name, function (this: DbStore, ...args: unknown[]): DbRequest {
    return around.call(this, method, ...args);
  });
}

function wrapCursor(prototype: object, name: string, kind: "put" | "delete", recorder: Recorder): void {
  // As IndexedDB says.
  const method = Reflect.get(prototype, name) as (this: Cursor, value?: unknown) => DbRequest;
  Reflect.set(prototype, name, function (this: Cursor, value?: unknown): DbRequest {
    const { source, primaryKey: key } = this;
    const request = method.call(this, value);
    const { name: store, keyPath, transaction } = "objectStore" in source ? source.objectStore : source;
    const put = { kind: "put", store, value, ...(keyPath === null ? { key } : {}) } as const;
    recorder.note(transaction, kind === "put" ? put : { kind: "delete", store, key });
    return request;
  });
}

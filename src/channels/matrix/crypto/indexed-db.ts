/** What of IndexedDB is used here: Node has none, so its types are not there either. */
export interface DbRequest<Result = unknown> extends EventTarget {
  readonly result: Result;
  readonly error: unknown;
}

export interface DbStore {
  readonly name: string;
  readonly keyPath: string | readonly string[] | null;
  readonly autoIncrement: boolean;
  readonly indexNames: Iterable<string>;
  readonly transaction: DbTransaction;
  put(value: unknown, key?: unknown): DbRequest;
  delete(key: unknown): DbRequest;
  clear(): DbRequest;
  getAll(): DbRequest<readonly unknown[]>;
  getAllKeys(): DbRequest<readonly unknown[]>;
  createIndex(name: string, keyPath: unknown, options: object): unknown;
  index(name: string): { readonly keyPath: unknown; readonly unique: boolean; readonly multiEntry: boolean };
}

export interface DbTransaction extends EventTarget {
  readonly mode: string;
  readonly db: Db;
  objectStore(name: string): DbStore;
}

export interface Db extends EventTarget {
  readonly name: string;
  readonly version: number;
  readonly objectStoreNames: Iterable<string>;
  transaction(names: readonly string[], mode?: "readonly" | "readwrite"): DbTransaction;
  createObjectStore(name: string, options: object): DbStore;
  close(): void;
}

export interface DbFactory {
  open(name: string, version?: number): DbRequest<Db>;
  deleteDatabase(name: string): DbRequest;
}

/** Bounds of keys, as a delete may name them. */
export interface DbRange {
  readonly lower: unknown;
  readonly upper: unknown;
  readonly lowerOpen: boolean;
  readonly upperOpen: boolean;
}

/** Resolves with the result. @throws the request's error */
export async function answerOf<Result>(request: DbRequest<Result>): Promise<Result> {
  await once(request, "success", "error");
  return request.result;
}

/** Resolves when it is over. @throws when it was aborted */
export async function endOf(transaction: DbTransaction): Promise<void> {
  await once(transaction, "complete", "abort");
}

async function once(target: EventTarget, good: string, bad: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    target.addEventListener(good, () => resolve());
    target.addEventListener(bad, () => {
      const why: unknown = Reflect.get(target, "error");
      reject(why instanceof Error ? why : new Error("The store of the keys for Matrix cannot be used."));
    });
  });
}

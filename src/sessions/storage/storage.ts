/** One record to store, or to delete where there is no value. */
export interface Change {
  readonly key: string;
  readonly value: object | undefined;
}

/**
 * Where session documents are: records of JSON objects under the keys of `keys.ts`. Never the truth, which is the
 * session's log: what is missing or behind here is written again from there.
 *
 * A call settles once the storage has answered: what was written is there for the next call, and (except for `memory`) for
 * the next process. How much of it survives a power cut is up to the storage. Calls for different sessions may run side
 * by side; the caller starts no change of a session before the last one has settled.
 *
 * Every call rejects with {@link StorageError} when the storage cannot be reached, refuses, or does not answer within
 * the driver's time limit. A change that was rejected may have happened in part or as a whole; it can be repeated. The
 * next call tries again, on a new connection where one is needed. Driver and storage never end the process.
 */
export interface StorageDriver extends AsyncDisposable {
  /** As in the config, e.g. `redis`. */
  readonly name: string;

  /** The record as it was stored, not to be changed by the caller; undefined when there is none. */
  get(key: string): Promise<object | undefined>;

  /** The records of all keys, in their order. */
  getMany(keys: readonly string[]): Promise<readonly (object | undefined)[]>;

  /** Stores a record as plain JSON data. It replaces an earlier one. Later changes to the object do not matter. */
  set(key: string, value: object): Promise<void>;

  /** Does nothing where there is no record. */
  delete(key: string): Promise<void>;

  /** All keys that begin with `prefix`, each once, in any order. Those of indexes only when the prefix is one of theirs. */
  keys(prefix: string): Promise<readonly string[]>;

  /**
   * Several changes together, in their order: a crash or a failure leaves a first part of them, never a later one without
   * those before it. Who orders them so that each first part makes sense has changed all as one. `file` and `memory` have
   * either all of a session's changes or none.
   */
  change(changes: readonly Change[]): Promise<void>;
}

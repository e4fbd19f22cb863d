import type { Driver } from "unstorage";
import { messageOf, StorageError } from "../../errors.js";
import { within } from "../../util/async/within.js";
import { isInScan, isKindInScan, kindPrefixes, recordKinds } from "./keys.js";
import type { Change, StorageDriver } from "./storage.js";
import { fromStoreId, isCut, toStoreId } from "./store-ids.js";
import { Turns } from "./turns.js";

/** Records asked for at once. */
const pageSize = 100;
const callsAtOnce = 8;

type Work<T> = (driver: Driver) => T | Promise<T>;

class NoAnswer extends Error {}

export interface UnstorageOptions {
  /** As in the config, e.g. `redis`. */
  readonly name: string;
  /** Makes a driver with a connection of its own, at first use and again after a call that failed. */
  readonly open: () => Promise<Driver>;
  /** For one call to the driver. Default 5000. */
  readonly timeoutMs?: number;
}

/**
 * Any driver of unstorage, with what they leave open: ids that every storage can hold, values as JSON text, a time limit,
 * and a new connection after a failure. The driver is used as it is, without unstorage's own front, which rewrites keys
 * and guesses types.
 */
export function createUnstorage({ name, open, timeoutMs = 5000 }: UnstorageOptions): StorageDriver {
  let opened: Promise<Driver> | undefined;
  let isClosed = false;
  const turns = new Turns(callsAtOnce);

  const attempt = async <T>(work: Work<T>): Promise<T> => {
    if (isClosed) throw new StorageError(`The session storage (${name}) is closed`);
    opened ??= open();
    const current = opened;
    let driver: Driver | undefined;
    try {
      return await answerOf(
        timeoutMs,
        current.then((ready) => {
          driver = ready;
          return work(ready);
        }),
      );
    } catch (error) {
      // Its connection may be of no use any more, and what still waits there must not be written later. A driver without
      // `dispose` has no connection, or one that mends itself.
      if (driver === undefined || driver.dispose !== undefined) {
        if (opened === current) opened = undefined;
        void release(current);
      }
      const failure = new StorageError(withoutPassword(reasonOf(error)), { cause: error, retryable: true });
      if (driver === undefined || error instanceof NoAnswer) turns.giveUp(failure);
      throw failure;
    }
  };

  /** The time limit counts from a call's turn on: a slow storage is given as much as it can take. */
  const call = <T>(work: Work<T>): Promise<T> =>
    turns.run(async () => {
      const isNew = opened === undefined;
      try {
        return await attempt(work);
      } catch (error) {
        // Servers cut connections that rest: only a new one tells whether the storage is there.
        if (isNew || isClosed || (error instanceof Error && error.cause instanceof NoAnswer)) throw error;
        return await attempt(work);
      }
    });

  const getMany = async (keys: readonly string[]): Promise<readonly (object | undefined)[]> => {
    const found: (object | undefined)[] = [];
    for (let from = 0; from < keys.length; from += pageSize) {
      const page = keys.slice(from, from + pageSize);
      const ids = page.map(toStoreId);
      const texts = await call((driver) => textsOf(driver, ids));
      found.push(...page.map((key, index) => toValue(texts[index], key, ids[index] ?? "")));
    }
    return found;
  };

  const write = async ({ key, value }: Change): Promise<void> => {
    const id = toStoreId(key);
    await call(async (driver) => {
      if (driver.setItem === undefined || driver.removeItem === undefined)
        throw new Error(`the unstorage driver ${name} can only be read`);
      if (value === undefined) await driver.removeItem(id, {});
      else await driver.setItem(id, toText(isCut(id) ? { key, value } : value), {});
    });
  };

  const change = async (changes: readonly Change[]): Promise<void> => {
    for (const each of changes) await write(each);
  };

  const keys = async (prefix: string): Promise<readonly string[]> => {
    const found = new Set<string>();
    for (const kind of recordKinds.filter((each) => isKindInScan(each, prefix))) {
      // Some drivers find whole parts of an id only, some everything, some the same key twice.
      const ids = await call((driver) => driver.getKeys(kindPrefixes[kind], {}));
      const cut: string[] = [];
      for (const id of ids.map(plainId)) {
        if (isCut(id)) cut.push(id);
        else found.add(fromStoreId(id) ?? "");
      }
      for (const text of cut.length === 0 ? [] : await call((driver) => textsOf(driver, cut)))
        found.add(cutRecord(text)?.key ?? "");
    }
    return [...found].filter((key) => key !== "" && isInScan(key, prefix));
  };

  return {
    name,
    get: async (key) => (await getMany([key]))[0],
    getMany,
    set: (key, value) => write({ key, value }),
    delete: (key) => write({ key, value: undefined }),
    keys,
    change,
    async [Symbol.asyncDispose]() {
      isClosed = true;
      if (opened === undefined) return;
      // A storage that does not let go holds up no stop.
      await answerOf(timeoutMs, release(opened)).catch(() => {});
      opened = undefined;
    },
  };
}

/** JSON in plain ASCII, which a database of any character set can hold. */
function toText(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

async function textsOf(driver: Driver, ids: readonly string[]): Promise<readonly unknown[]> {
  if (driver.getItems === undefined || ids.length === 1)
    return await Promise.all(ids.map((id) => driver.getItem(id, {})));
  const items = await driver.getItems(
    ids.map((key) => ({ key })),
    {},
  );
  const byId = new Map(items.map(({ key, value }) => [plainId(key), value as unknown]));
  return ids.map((id) => byId.get(id));
}

/** Ids as we wrote them: some drivers give them with slashes, or a separator in front. */
function plainId(id: string): string {
  return id.replaceAll(/[/\\]/g, ":").replace(/^:/, "");
}

function toValue(stored: unknown, key: string, id: string): object | undefined {
  if (!isCut(id)) return parsed(stored);
  const record = cutRecord(stored);
  return record?.key === key ? parsed(record.value) : undefined;
}

/** What is stored under an id that was cut. */
function cutRecord(stored: unknown): { readonly key: string; readonly value: unknown } | undefined {
  const record = parsed(stored);
  if (record === undefined || !("key" in record) || !("value" in record)) return undefined;
  return typeof record.key === "string" ? { key: record.key, value: record.value } : undefined;
}

/** Some drivers parse JSON themselves. What is no JSON object was not written by us: it counts as missing. */
function parsed(stored: unknown): object | undefined {
  let value = stored;
  if (typeof value === "string") {
    try {
      value = JSON.parse(value);
    } catch {
      return undefined;
    }
  }
  return typeof value === "object" && value !== null ? value : undefined;
}

async function release(opened: Promise<Driver>): Promise<void> {
  try {
    await (await opened).dispose?.();
  } catch {
    // It is given up anyway.
  }
}

async function answerOf<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return await within(work, { ms: timeoutMs, late: () => new NoAnswer(`no answer within ${timeoutMs / 1000} s`) });
}

/** Where several addresses of one name refuse, the error itself says nothing. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join(", ");
  return messageOf(error);
}

function withoutPassword(text: string): string {
  return text.replaceAll(/:\/\/[^/@\s]*@/g, "://***@");
}

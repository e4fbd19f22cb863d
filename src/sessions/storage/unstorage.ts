import type { Driver } from "unstorage";
import { DriverCalls, type UnstorageOptions } from "./driver-calls.js";
import { isInScan, isKindInScan, kindPrefixes, recordKinds } from "./keys.js";
import type { Change, StorageDriver } from "./storage.js";
import { fromStoreId, isCut, toStoreId } from "./store-ids.js";

/** Records asked for at once. */
const pageSize = 100;

/**
 * Any driver of unstorage, with what they leave open: ids that every storage can hold, values as JSON text, a time limit,
 * and a new connection after a failure. The driver is used as it is, without unstorage's own front, which rewrites keys
 * and guesses types.
 */
export function createUnstorage(options: UnstorageOptions): StorageDriver {
  return new Unstorage(options);
}

class Unstorage implements StorageDriver {
  readonly name: string;
  readonly #calls: DriverCalls;

  constructor(options: UnstorageOptions) {
    this.name = options.name;
    this.#calls = new DriverCalls(options);
  }

  async get(key: string): Promise<object | undefined> {
    return (await this.getMany([key]))[0];
  }

  async getMany(keys: readonly string[]): Promise<readonly (object | undefined)[]> {
    const found: (object | undefined)[] = [];
    for (let from = 0; from < keys.length; from += pageSize) {
      const page = keys.slice(from, from + pageSize);
      const ids = page.map(toStoreId);
      const texts = await this.#calls.call((driver) => textsOf(driver, ids));
      found.push(...page.map((key, index) => toValue(texts[index], key, ids[index] ?? "")));
    }
    return found;
  }

  set(key: string, value: object): Promise<void> {
    return this.#write({ key, value });
  }

  delete(key: string): Promise<void> {
    return this.#write({ key, value: undefined });
  }

  async change(changes: readonly Change[]): Promise<void> {
    for (const each of changes) await this.#write(each);
  }

  async keys(prefix: string): Promise<readonly string[]> {
    const found = new Set<string>();
    for (const kind of recordKinds.filter((each) => isKindInScan(each, prefix))) {
      // Some drivers find whole parts of an id only, some everything, some the same key twice.
      const ids = await this.#calls.call((driver) => driver.getKeys(kindPrefixes[kind], {}));
      const cut: string[] = [];
      for (const id of ids.map(plainId)) {
        if (isCut(id)) cut.push(id);
        else found.add(fromStoreId(id) ?? "");
      }
      for (const text of cut.length === 0 ? [] : await this.#calls.call((driver) => textsOf(driver, cut)))
        found.add(cutRecord(text)?.key ?? "");
    }
    return [...found].filter((key) => key !== "" && isInScan(key, prefix));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#calls[Symbol.asyncDispose]();
  }

  async #write({ key, value }: Change): Promise<void> {
    const id = toStoreId(key);
    await this.#calls.call(async (driver) => {
      if (driver.setItem === undefined || driver.removeItem === undefined)
        throw new Error(`the unstorage driver ${this.name} can only be read`);
      if (value === undefined) await driver.removeItem(id, {});
      else await driver.setItem(id, toText(isCut(id) ? { key, value } : value), {});
    });
  }
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

/** Some drivers parse JSON themselves. What is not a JSON object was not written by us: it counts as missing. */
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

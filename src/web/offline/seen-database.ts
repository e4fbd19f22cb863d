import type { DBSchema, IDBPDatabase } from "idb";
import { isTooMuch } from "./seen-limits.js";
import type { KeptChat, KeptList } from "./seen-writer.js";

interface Schema extends DBSchema {
  readonly chats: { readonly key: string; readonly value: KeptChat; readonly indexes: { readonly at: number } };
  readonly list: { readonly key: string; readonly value: KeptList };
}

/** What this browser has seen of its gateway, one database for each address that a gateway has. */
export class SeenDatabase {
  readonly #database: IDBPDatabase<Schema>;

  private constructor(database: IDBPDatabase<Schema>) {
    this.#database = database;
  }

  /** @throws where the browser keeps nothing: some do so in private windows */
  static async open(): Promise<SeenDatabase> {
    const { openDB } = await import("idb");
    const name = `maxclaw seen ${new URL(".", document.baseURI).pathname}`;
    const database = await openDB<Schema>(name, 1, {
      upgrade(fresh) {
        fresh.createObjectStore("chats", { keyPath: "key" }).createIndex("at", "at");
        fresh.createObjectStore("list");
      },
      blocking: (_from, _to, event) => {
        if (event.target instanceof IDBDatabase) event.target.close();
      },
    });
    return new SeenDatabase(database);
  }

  chat(key: string): Promise<KeptChat | undefined> {
    return this.#database.get("chats", key);
  }

  chatKeys(): Promise<readonly string[]> {
    return this.#database.getAllKeys("chats");
  }

  /** What was kept longest ago makes room. */
  async putChat(chat: KeptChat): Promise<void> {
    const transaction = this.#database.transaction("chats", "readwrite");
    const { store } = transaction;
    await store.put(chat);
    const newestFirst = (await store.index("at").getAll()).reverse();
    let [count, units] = [0, 0];
    for (const { key, json } of newestFirst) {
      count += 1;
      units += json.length;
      if (isTooMuch(count, units)) await store.delete(key);
    }
    await transaction.done;
  }

  async removeChat(key: string): Promise<void> {
    await this.#database.delete("chats", key);
  }

  list(): Promise<KeptList | undefined> {
    return this.#database.get("list", "list");
  }

  async putList(at: number, json: string): Promise<void> {
    await this.#database.put("list", { at, json }, "list");
  }

  async clear(): Promise<void> {
    await Promise.all([this.#database.clear("chats"), this.#database.clear("list")]);
  }
}

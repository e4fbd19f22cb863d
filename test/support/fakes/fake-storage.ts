import type { Driver } from "unstorage";
import type { StorageDriver } from "../../../src/sessions/storage/storage.js";
import { createUnstorage } from "../../../src/sessions/storage/unstorage.js";

/** The far side of unstorage: a driver whose storage outlives every connection and can fail as servers do. */
export interface FakeStorage {
  /** What it holds, by id, as text. */
  readonly items: Map<string, string>;
  /** As the gateway opens it. */
  open(timeoutMs?: number): StorageDriver;
  /** How it takes calls from now on. */
  behave(how: "well" | "refuses" | "hangs"): void;
  /** From now on `count` more writes arrive, then it is away. */
  dieAfter(count: number): void;
  /** Writes to ids that hold this text are refused; it works otherwise. */
  refuse(text: string | undefined): void;
}

export function createFakeStorage(): FakeStorage {
  const items = new Map<string, string>();
  let how: "well" | "refuses" | "hangs" = "well";
  let writesLeft = Number.POSITIVE_INFINITY;
  let refused: string | undefined;
  const take = async (): Promise<void> => {
    if (how === "hangs") await new Promise(() => {});
    if (how === "refuses") throw new Error("connect ECONNREFUSED 127.0.0.1:1");
  };
  const takeWrite = async (id: string): Promise<void> => {
    await take();
    if (refused !== undefined && id.includes(refused)) throw new Error("value too large");
    if (writesLeft <= 0) {
      how = "refuses";
      await take();
    }
    writesLeft -= 1;
  };
  const driver = (): Driver => ({
    name: "fake",
    async hasItem(id) {
      await take();
      return items.has(id);
    },
    async getItem(id) {
      await take();
      return items.get(id) ?? null;
    },
    async setItem(id, text) {
      await takeWrite(id);
      items.set(id, text);
    },
    async removeItem(id) {
      await takeWrite(id);
      items.delete(id);
    },
    async getKeys(base) {
      await take();
      return [...items.keys()].filter((id) => id.startsWith(base));
    },
    dispose() {},
  });
  return {
    items,
    open: (timeoutMs) =>
      createUnstorage({
        name: "fake",
        async open() {
          await take();
          return driver();
        },
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      }),
    behave(to) {
      how = to;
      writesLeft = Number.POSITIVE_INFINITY;
    },
    dieAfter(count) {
      writesLeft = count;
    },
    refuse(text) {
      refused = text;
    },
  };
}

import type * as Wasm from "@matrix-org/matrix-sdk-crypto-wasm";
import { loadPackage } from "../../../util/packages/load.js";
import type { DbFactory, DbRange } from "./indexed-db.js";
import { recordWrites, type WritesOf } from "./recording.js";

export type Library = typeof Wasm;
export type { OlmMachine } from "@matrix-org/matrix-sdk-crypto-wasm";

/** The encryption of Matrix, and the IndexedDB in memory that it keeps its keys in. */
export interface CryptoLibrary {
  readonly wasm: Library;
  readonly databases: DbFactory;
  /** Makes bounds of keys from what a delete has named. */
  readonly range: (bounds: DbRange) => unknown;
  readonly writesOf: WritesOf;
}

interface Ranges {
  lowerBound(lower: unknown, isOpen: boolean): unknown;
  upperBound(upper: unknown, isOpen: boolean): unknown;
  bound(lower: unknown, upper: unknown, lowerOpen: boolean, upperOpen: boolean): unknown;
}

/** @throws what `isNotInstalled` knows, where the packages were not added */
export async function loadCrypto(home: string | undefined): Promise<CryptoLibrary> {
  // Puts `indexedDB` and its classes where the library looks for them.
  await loadPackage("fake-indexeddb/auto", home);
  const loaded = await loadPackage("@matrix-org/matrix-sdk-crypto-wasm", home);
  // As the package declares itself: its version is locked.
  const wasm = loaded as Library;
  await wasm.initAsync();
  const ranges = Reflect.get(globalThis, "IDBKeyRange") as Ranges;
  return {
    wasm,
    // As the package has put them there.
    databases: Reflect.get(globalThis, "indexedDB") as DbFactory,
    range: ({ lower, upper, lowerOpen, upperOpen }) => {
      if (lower === undefined) return ranges.upperBound(upper, upperOpen);
      return upper === undefined
        ? ranges.lowerBound(lower, lowerOpen)
        : ranges.bound(lower, upper, lowerOpen, upperOpen);
    },
    writesOf: recordWrites(
      classOf("IDBFactory"),
      classOf("IDBObjectStore"),
      classOf("IDBCursor"),
      classOf("IDBKeyRange"),
    ),
  };
}

function classOf(name: string): { readonly prototype: object } {
  return Reflect.get(globalThis, name) as { readonly prototype: object };
}

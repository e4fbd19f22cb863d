import assert from "node:assert/strict";
import { test } from "node:test";
import { changingTests } from "./storage/changing.js";
import { keysTests } from "./storage/keys.js";
import { serverTests } from "./storage/servers.js";
import type { StorageSide, StorageTest } from "./storage/storage-test.js";
import { storingTests } from "./storage/storing.js";

/** What every storage of session documents promises. */
export function testStorageContract(name: string, side: StorageSide): void {
  const tests = [storingTests, keysTests, changingTests, testsOfServer(side)].flat();
  for (const [number, { title, run }] of tests.entries())
    test(`${name}: ${title}`, { skip: side.skip ?? false }, async () => {
      const space = `space${number + 1}`;
      await using storage = await side.open(space);
      await run(storage, { side, space });
    });
}

function testsOfServer({ server }: StorageSide): readonly StorageTest[] {
  if (server === undefined) return [];
  return serverTests.map(({ title, run }) => ({
    title,
    async run(storage, place) {
      const running = server();
      assert.ok(running !== undefined);
      await run(storage, running, place);
    },
  }));
}

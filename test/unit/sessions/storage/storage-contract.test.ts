import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { createSessionFiles } from "../../../../src/sessions/file-names.js";
import { createFileStorage } from "../../../../src/sessions/storage/file.js";
import { createMemoryStorage } from "../../../../src/sessions/storage/memory.js";
import { loadDriver } from "../../../../src/sessions/storage/packages.js";
import { createUnstorage } from "../../../../src/sessions/storage/unstorage.js";
import { testStorageContract } from "../../../contracts/storage.js";
import { keepLog } from "../../../support/log.js";

const root = mkdtempSync(join(tmpdir(), "maxclaw-storage-"));
after(() => rmSync(root, { recursive: true, force: true }));

testStorageContract("file", {
  isLasting: true,
  open: async (space) => createFileStorage(createSessionFiles(join(root, space)), keepLog()),
});

testStorageContract("memory", { isLasting: false, open: async () => createMemoryStorage() });

testStorageContract("SQLite", {
  isLasting: true,
  async open(space) {
    const options = { connector: "libsql", url: `file:${join(root, "sqlite.db")}`, tableName: space };
    return createUnstorage({ name: "db0", open: await loadDriver({ driver: "db0", options }) });
  },
});

testStorageContract("unstorage's files", {
  isLasting: true,
  async open(space) {
    const options = { base: join(root, "unstorage", space) };
    return createUnstorage({ name: "fs-lite", open: await loadDriver({ driver: "fs-lite", options }) });
  },
});

import assert from "node:assert/strict";
import { StorageError } from "../../../src/errors.js";
import { until } from "../../support/engine/engine-kit.js";
import { recordsFor, save, scan } from "./records.js";
import { type ServerTest, serverTest } from "./storage-test.js";

export const serverTests: readonly ServerTest[] = [
  serverTest("fails by name while its server is away, and works again when that is back", async (storage, server) => {
    await save(storage, "webui:a");
    await server.kill();
    await assert.rejects(storage.get("sessions:webui:a"), (error) => {
      assert.ok(error instanceof StorageError);
      assert.doesNotMatch(error.message, /secret-word/);
      return error.message !== "";
    });
    await assert.rejects(storage.set("sessions:webui:a", { key: "webui:a", metadata: {} }), StorageError);
    await server.start();
    assert.deepEqual(await storage.get("messages:webui:a"), recordsFor("webui:a")[0]?.value);
    await save(storage, "webui:b");
    assert.deepEqual(await scan(storage, "sessions:"), ["sessions:webui:a", "sessions:webui:b"]);
  }),
  serverTest(
    "does not wait for a server that hangs, and works again when that goes on",
    async (storage, server, { side, space }) => {
      await save(storage, "webui:a");
      await using hurried = await side.open(space, 700);
      const works = (): Promise<boolean> =>
        save(hurried, "webui:b").then(
          () => true,
          () => false,
        );
      await until("it is connected", works, 20_000);
      server.pause();
      try {
        // A process stops a moment after it was told to.
        const hangs = (): Promise<boolean> =>
          hurried.change(recordsFor("webui:a", "new")).then(
            () => false,
            (error: unknown) => error instanceof StorageError,
          );
        await until("it hangs", hangs, 20_000);
        await assert.rejects(hurried.keys("sessions:"), StorageError);
      } finally {
        server.resume();
      }
      await until("it works again", works, 20_000);
      assert.deepEqual(await scan(storage, "sessions:"), ["sessions:webui:a", "sessions:webui:b"]);
    },
  ),
];

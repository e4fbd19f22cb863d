import { after, before, describe } from "node:test";
import { loadDriver } from "../../../../src/sessions/storage/packages.js";
import { createUnstorage } from "../../../../src/sessions/storage/unstorage.js";
import { testStorageContract } from "../../../contracts/storage.js";
import {
  type ServerName,
  type StorageServer,
  servers,
  startServer,
  withoutServer,
} from "../../../support/fakes/storage-servers.js";

for (const name of Object.keys(servers) as ServerName[]) {
  const skip = withoutServer(name);
  describe(servers[name].name, () => {
    let server: StorageServer | undefined;
    before(async () => {
      if (skip === false) server = await startServer(name);
    });
    after(async () => await server?.[Symbol.asyncDispose]());

    testStorageContract(servers[name].name, {
      isLasting: true,
      skip,
      server: () => server,
      async open(space, timeoutMs = 20_000) {
        const settings = server?.settings(space) ?? { driver: "redis", options: {} };
        return createUnstorage({ name: settings.driver, open: await loadDriver(settings), timeoutMs });
      },
    });
  });
}

import { after, before } from "node:test";
import { testEngineContract } from "../contracts/engine.js";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { openNode, urlOf } from "../support/postgres/postgres-kit.js";

let server: StorageServer | undefined;
before(async () => {
  server = await startServer("postgres");
});
after(() => server?.[Symbol.asyncDispose]());

testEngineContract("postgres engine", async (storage, options = {}) => {
  return await openNode(urlOf(server?.port ?? 0), storage.replaceAll("-", "_"), options);
});

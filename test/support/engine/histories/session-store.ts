import { join } from "node:path";
import type { EmbeddedEngine } from "../../../../src/engine/embedded/embedded-engine.js";
import { openEmbeddedEngine } from "../../../../src/engine/embedded/open.js";
import { createSystemBus, type EventProducer } from "../../../../src/events/bus/system-bus.js";
import { createSessionFiles, type SessionFiles } from "../../../../src/sessions/file-names.js";
import { SessionStore } from "../../../../src/sessions/session-store.js";
import type { SessionStoreOptions } from "../../../../src/sessions/store-options.js";
import { keepLog } from "../../log.js";

export interface OpenedStore extends AsyncDisposable {
  readonly store: SessionStore;
  readonly engine: EmbeddedEngine;
  readonly files: SessionFiles;
  readonly log: ReturnType<typeof keepLog>;
  readonly bus: EventProducer;
}

/** A session store over a real engine, with its documents in `<home>/sessions`. */
export async function openStore(home: string, options: Partial<SessionStoreOptions> = {}): Promise<OpenedStore> {
  const log = keepLog();
  const bus = createSystemBus({ log });
  const files = createSessionFiles(join(home, "sessions"));
  const engine = await openEmbeddedEngine({
    home,
    logs: { pathOf: (key) => files.logPath(key) },
    publish: bus.asProducer().emit,
    instanceId: "gw_test",
    log,
    now: () => (options.now?.() ?? new Date()).getTime(),
  });
  const store = new SessionStore({
    engine,
    bus: bus.asConsumer(),
    files,
    log,
    changed: { recentSessions: () => engine.recentSessions() },
    quietMs: 5,
    ...options,
  });
  return {
    store,
    engine,
    files,
    log,
    bus: bus.asProducer(),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
      bus.destroy();
    },
  };
}

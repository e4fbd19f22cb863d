import type { Engine } from "../engine/engine.js";
import type { EventConsumer } from "../events/bus/system-bus.js";
import type { Logger } from "../log.js";
import type { ChangedSessions } from "./changed-sessions.js";
import type { SessionFiles } from "./file-names.js";
import type { MemoryLimits } from "./resident-sessions.js";
import type { StorageDriver } from "./storage/storage.js";

export interface SessionStoreOptions {
  readonly engine: Pick<Engine, "events" | "append" | "lastSequence" | "deleteSession">;
  readonly bus: EventConsumer;
  readonly files: SessionFiles;
  readonly log: Logger;
  readonly changed: ChangedSessions;
  /** Where documents are; by default files beside the session logs. Closed with the store. */
  readonly storage?: StorageDriver | undefined;
  /** Tells this storage from every other one; none for the files. */
  readonly storageId?: string | undefined;
  /** Documents are written this long after a session's last change, large ones later. Default 1000. */
  readonly quietMs?: number;
  readonly memory?: MemoryLimits | undefined;
  readonly now?: () => Date;
  /** Throws when another process may write the documents too. */
  readonly assertHeld?: (() => void) | undefined;
  /** Called with the name of each boundary that is passed, so that a test can kill the process there. */
  readonly onBoundary?: ((name: string) => void) | undefined;
}

import { openEmbeddedEngine } from "../../src/engine/embedded/open.js";
import type { EmbeddedEngineOptions } from "../../src/engine/embedded/options.js";
import type { Engine } from "../../src/engine/engine.js";

/** What the sweep needs of an engine: a module that exports these. */
export interface EngineUnderTest {
  readonly openEngine: (options: EmbeddedEngineOptions) => Promise<Engine>;
  /** Boundaries of its own, as `onBoundary` names them; with the queue behind where there is one. */
  readonly boundaries: readonly string[];
  /** Those of them that an orderly stop passes. */
  readonly stopBoundaries: readonly string[];
  /** Others, that a message which is buried passes. */
  readonly buryBoundaries: readonly string[];
  /** Boundaries at whose first passing the platform may not have heard about the message yet. */
  readonly unacknowledgedAt: readonly string[];
  /** What a config needs, so that a gateway works with it. `root` is the folder of one world. */
  readonly sections: (root: string) => object;
  /** The documents of sessions, within a home. After an orderly stop each of them shows all of its log. */
  readonly documents: string;
  /** Only those do that somebody has looked at the list of: others may have written, and go on writing. */
  readonly mustList: boolean;
}

/** With segments so small and logs so quick that a few turns pass every boundary, and suspects soon known. */
export const openEngine: EngineUnderTest["openEngine"] = (options) =>
  openEmbeddedEngine({
    ...options,
    journal: { segmentBytes: 24_000, sealAtLeast: 4 },
    quietMs: 3,
    limits: { suspectMs: 200 },
  });

export const boundaries: EngineUnderTest["boundaries"] = [
  "accept:before-sync",
  "accept:after-sync",
  "append:after-write",
  "attempt:started inbound",
  "attempt:started outbound",
  "commit:before-write inbound",
  "commit:after-write inbound",
  "commit:after-sync inbound",
  "commit:before-write outbound",
  "commit:after-write outbound",
  "commit:after-sync outbound",
  "rotate:before",
  "seen:before-seal",
  "seen:sealed",
  "rotate:checkpoint-written",
  "rotate:old-dropped",
  "session-log:before-write",
  "session-log:after-write",
];

export const stopBoundaries: EngineUnderTest["stopBoundaries"] = [
  "rotate:before",
  "rotate:checkpoint-written",
  "rotate:old-dropped",
];

export const buryBoundaries: EngineUnderTest["buryBoundaries"] = [
  "bury:before-write inbound",
  "bury:after-write inbound",
  "bury:after-sync inbound",
];

export const unacknowledgedAt: EngineUnderTest["unacknowledgedAt"] = ["accept:before-sync"];

export const sections: EngineUnderTest["sections"] = () => ({});

export const documents = "workspace/.sessions";

export const mustList = false;

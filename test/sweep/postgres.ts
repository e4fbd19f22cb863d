import { createHash } from "node:crypto";
import { openPostgresEngine } from "../../src/engine/postgres/open.js";
import { postgresModules } from "../support/postgres/postgres-kit.js";
import type { EngineUnderTest } from "./embedded.js";

/** The database that all worlds share; each has a schema of its own. */
export const databaseVariable = "MAXCLAW_SWEEP_DATABASE";

/** What a dead process had claimed is free again soon. */
const timing = { claimMs: 2000, renewMs: 300, pollMs: 100, deafPollMs: 100, graceMs: 500, leaseMs: 2000 };

export const openEngine: EngineUnderTest["openEngine"] = async ({ home, publish, instanceId, log, now, onBoundary }) =>
  await openPostgresEngine({
    modules: await postgresModules(),
    url: process.env[databaseVariable] ?? "",
    schema: `sweep_${createHash("sha256").update(home).digest("hex").slice(0, 16)}`,
    connections: 5,
    ...{ publish, instanceId, log, timing },
    ...(now && { now }),
    ...(onBoundary && { onBoundary }),
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
];

export const stopBoundaries: EngineUnderTest["stopBoundaries"] = [];

export const buryBoundaries: EngineUnderTest["buryBoundaries"] = [
  "bury:before-write inbound",
  "bury:after-write inbound",
  "bury:after-sync inbound",
];

export const unacknowledgedAt: EngineUnderTest["unacknowledgedAt"] = ["accept:before-sync"];

/** A gateway makes them again when somebody looks: others may have written meanwhile. */
export const keepsDocuments = false;

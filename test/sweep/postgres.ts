import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { openPostgresEngine } from "../../src/engine/postgres/open.js";
import { postgresModules } from "../support/postgres/postgres-kit.js";
import { databaseVariable } from "./database.js";
import type { EngineUnderTest } from "./embedded.js";

/** What a dead process had claimed is free again soon. */
const timing = { claimMs: 2000, renewMs: 300, pollMs: 100, deafPollMs: 100, graceMs: 500, leaseMs: 2000 };

const url = (): string => process.env[databaseVariable] ?? "";

/** A gateway is one node of several, also where it is alone. */
export const sections: EngineUnderTest["sections"] = (root) => ({
  engine: { kind: "postgres", url: url(), schema: schemaOf(root) },
});

export const openEngine: EngineUnderTest["openEngine"] = async ({ home, publish, instanceId, log, now, onBoundary }) =>
  await openPostgresEngine({
    modules: await postgresModules(),
    url: url(),
    schema: schemaOf(dirname(home)),
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

export const documents = "documents";

export const mustList = true;

/** Of the world in this folder. */
export function schemaOf(root: string): string {
  return `sweep_${createHash("sha256").update(root).digest("hex").slice(0, 16)}`;
}

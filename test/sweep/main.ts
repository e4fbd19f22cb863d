import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { nodeForPostgres } from "../support/postgres/node-for-postgres.js";
import { urlOf } from "../support/postgres/postgres-kit.js";
import { projectFile } from "../support/project.js";
import { createRandom } from "../support/random.js";
import type { ClusterRow } from "./cluster/cluster-sweep.js";
import { runTroubles } from "./cluster/run.js";
import { frozenAt, killedAt, pointsIn, troubles } from "./cluster/troubles.js";
import { combine, noCounts } from "./counts.js";
import { databaseVariable } from "./database.js";
import { allPoints, mainPoints, type Point } from "./points.js";
import {
  type Marks,
  nodesMarks,
  postgresMarks,
  putBetweenMarks,
  scenarioMarks,
  sweepMarks,
  toClusterTable,
  toTable,
} from "./report.js";
import { measureRestart, restartSentence } from "./restart.js";
import { scenarios } from "./scenarios/all.js";
import { runScenario, type ScenarioRow } from "./scenarios/run.js";
import { toScenarioTable } from "./scenarios/table.js";
import { loadEngine, poison, type Row, Sweep, type SweepEngine } from "./sweep.js";
import { Nursery } from "./world/child-process.js";
import { doors } from "./world/world.js";

// `npm run sweep`: kills a gateway at every point, there at each passing, and at random moments, then brings about each
// scenario; prints what it cost. `--point <name>` or `--scenario <name>` takes one of them, `--scenario all` those alone.
// `--engine postgres`: on the engine for several gateways, of which one works here; `--nodes N`: so many of them, and what happens to
// them. `--point` takes what contains the text then, `--rounds` so many of each.
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    point: { type: "string" },
    scenario: { type: "string" },
    rounds: { type: "string" },
    passings: { type: "string", default: "12" },
    random: { type: "string", default: "60" },
    engine: { type: "string", default: new URL("./embedded.js", import.meta.url).href },
    /** Only the points that a promise names. */
    main: { type: "boolean", default: false },
    nodes: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
  },
});
/** `postgres` names our own engine on a database, which is started here. */
const isOnPostgres = values.engine === "postgres";
await using database = isOnPostgres ? await startServer("postgres", ["-c", "max_connections=200"]) : undefined;
if (database !== undefined) {
  values.engine = new URL("./postgres.js", import.meta.url).href;
  process.env[databaseVariable] = urlOf(database.port);
}
const seed = Number(values.seed ?? Date.now() % 100_000);
const random = createRandom(seed);
console.log(`seed ${seed}`);
/** What runs the gateways. */
const node = isOnPostgres ? nodeForPostgres() : process.execPath;
await using nursery = new Nursery(node);
const isWhole = values.point === undefined && values.scenario === undefined;
const rows: Row[] = [];

/** What happens once in a conversation: each kill needs a world in which nobody has spoken yet. */
const onlyOnce: ReadonlySet<string> = new Set(["event session_title_generated"]);

if (database !== undefined && Number(values.nodes) > 1) await sweepNodes(database, Number(values.nodes));
else if (values.scenario === undefined) await sweepPoints();
// Scenarios bring about what happens to files.
if ((isWhole && !isOnPostgres) || values.scenario !== undefined) await sweepScenarios(values.scenario ?? "all");

/** Ends, stops and cuts off one of several gateways in every way. */
async function sweepNodes(server: StorageServer, nodes: number): Promise<void> {
  const engine = await loadEngine(values.engine);
  const points = pointsIn(engine.boundaries);
  const known = [...points.map(killedAt), ...points.map(frozenAt), ...troubles];
  const wanted = known.filter(({ name }) => name.includes(values.point ?? ""));
  if (wanted.length === 0) throw new Error(`Nothing that happens is named "${values.point}"`);
  const many = wanted.flatMap((trouble) => Array.from({ length: Number(values.rounds ?? 2) }, () => trouble));
  const began = Date.now();
  const found = await runTroubles({ engine, nursery, server, nodes, random }, many, ({ name }) =>
    console.log(`${name}: ${Math.round((Date.now() - began) / 1000)} s`),
  );
  const merged = new Map<string, ClusterRow>();
  for (const row of found) {
    const { kills = 0, messages = 0, counts = noCounts } = merged.get(row.point) ?? {};
    const sums = { kills: kills + row.kills, messages: messages + row.messages };
    merged.set(row.point, { point: row.point, ...sums, counts: combine(counts, row.counts, 1) });
  }
  const table = toClusterTable([...merged.values()]);
  const times = found.reduce((sum, row) => sum + row.kills, 0);
  console.log(`\n${table}\n\n${times} times in ${Math.round((Date.now() - began) / 1000)} s, seed ${seed}`);
  if (isWhole && values.write) writeDown(nodesMarks(nodes), `${nodes} gateways, ${times} times`, `\n\n${table}`);
}

/** Kills at each point, or at the one that was asked for. */
async function sweepPoints(): Promise<void> {
  const engine = await loadEngine(values.engine);
  const known = values.main ? mainPoints(engine.boundaries) : allPoints(engine);
  const points = known.filter(({ name }) => values.point === undefined || name === values.point);
  if (points.length === 0 && values.point !== poison) throw new Error(`There is no point "${values.point}"`);
  const began = Date.now();
  for (const point of points) rows.push(await sweepPoint(engine, point));
  if (isWhole || values.point === poison) rows.push(...(await sweepPoison(engine)));
  if (isWhole) for (let round = 0; round < Number(values.random); round += 10) add(await sweepRandomly(engine, 10));
  const sentence = isWhole && !isOnPostgres ? ` ${restartSentence(await measureRestart(20))}` : "";
  const table = toTable(rows);
  const kills = rows.reduce((sum, row) => sum + row.kills, 0);
  console.log(
    `\n${table}\n\n${sentence.trimStart()}\n${kills} kills in ${Math.round((Date.now() - began) / 1000)} s, seed ${seed}`,
  );
  if (isWhole && values.write)
    writeDown(isOnPostgres ? postgresMarks : sweepMarks, `${kills} kills`, `${sentence}\n\n${table}`);
}

/** Brings about each scenario, or the one of this name. */
async function sweepScenarios(name: string): Promise<void> {
  const wanted = scenarios.filter((scenario) => name === "all" || scenario.name === name);
  if (wanted.length === 0)
    throw new Error(`There is no scenario "${name}". There are: ${scenarios.map((one) => one.name).join(", ")}`);
  const found: ScenarioRow[] = [];
  for (const scenario of wanted) {
    const missing = scenario.missing?.();
    if (typeof missing === "string") {
      console.log(`${scenario.name}: left out: ${missing}`);
      continue;
    }
    const began = Date.now();
    const rounds = Number(values.rounds ?? scenario.rounds.sweep);
    const row = await runScenario(scenario, { rounds, seed, nursery });
    console.log(`${scenario.name}: ${rounds} rounds in ${Math.round((Date.now() - began) / 1000)} s`);
    found.push(row);
  }
  const table = toScenarioTable(found);
  console.log(`\n${table}\n\nseed ${seed}`);
  if (name === "all" && values.write && found.length === scenarios.length)
    writeDown(scenarioMarks, `${found.length} scenarios`, `\n\n${table}`);
}

function writeDown(marks: Marks, what: string, text: string): void {
  const page = projectFile("docs/reliability.md");
  const date = new Date().toISOString().slice(0, 10);
  const version = execFileSync(node, ["--print", "process.versions.node"], { encoding: "utf8" }).trim();
  const head = `${date}, ${what}, seed ${seed}, Node ${version}.`;
  writeFileSync(page, putBetweenMarks(readFileSync(page, "utf8"), marks, `${head}${text}`));
}

/** Every passing of the point in a round of messages, up to the limit; the last kill is followed by a second one. */
async function sweepPoint(of: SweepEngine, point: Point): Promise<Row> {
  if (onlyOnce.has(point.name)) return await sweepInNewWorlds(of, point);
  await using sweep = await Sweep.open(of, nursery);
  if (of.unacknowledgedAt.includes(point.name)) for (const alone of doors) await sweep.run({ point, nth: 1, alone });
  // What is rare is waited for over several rounds.
  const isPrepared = point.during === "talk" && point.prepare !== undefined;
  const inOneRound = point.during === "talk" ? ((await sweep.passings())[point.name] ?? 0) : 0;
  const passings = Math.max(2, Math.min(inOneRound, Number(values.passings)));
  for (let nth = 1; nth <= passings; nth += 1) {
    const again = nth === passings ? { nth: 1 + Math.floor(random() * 120) } : undefined;
    await sweep.run({ point, nth: point.during === "talk" && !isPrepared ? nth : 1, again });
  }
  await sweep.finish();
  const [row] = sweep.rows;
  if (row === undefined) throw new Error(`${point.name}: nothing was killed`);
  console.log(`${point.name}: ${row.kills} kills`);
  return row;
}

async function sweepInNewWorlds(of: SweepEngine, point: Point): Promise<Row> {
  const found: Row[] = [];
  for (const nth of [1, 2, 3]) {
    await using sweep = await Sweep.open(of, nursery);
    await sweep.run({ point, nth, again: nth === 3 ? { nth: 1 + Math.floor(random() * 120) } : undefined });
    await sweep.finish();
    found.push(...sweep.rows);
  }
  const row: Row = {
    point: point.name,
    kills: found.reduce((sum, { kills }) => sum + kills, 0),
    counts: found.map(({ counts }) => counts).reduce((sum, counts) => combine(sum, counts, 1)),
  };
  console.log(`${point.name}: ${row.kills} kills`);
  return row;
}

async function sweepPoison(of: SweepEngine): Promise<readonly Row[]> {
  await using sweep = await Sweep.open(of, nursery);
  await sweep.runPoisonAmongOthers();
  for (const boundary of of.buryBoundaries) await sweep.runPoison([boundary]);
  await sweep.finish();
  return sweep.rows;
}

async function sweepRandomly(of: SweepEngine, rounds: number): Promise<readonly Row[]> {
  await using sweep = await Sweep.open(of, nursery);
  for (let round = 0; round < rounds; round += 1) await sweep.runRandomly(random);
  await sweep.finish();
  return sweep.rows;
}

/** Rows of one name become one. */
function add(more: readonly Row[]): void {
  for (const row of more) {
    const index = rows.findIndex(({ point }) => point === row.point);
    const known = rows[index];
    if (known === undefined) rows.push(row);
    else rows[index] = { ...known, kills: known.kills + row.kills, counts: combine(known.counts, row.counts, 1) };
  }
}

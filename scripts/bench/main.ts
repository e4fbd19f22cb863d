import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installProgram, sizeOfInstall } from "../../test/support/worlds/installed.js";
import { benchCluster } from "./cluster/main.js";
import { startFakeModel } from "./fake-model.js";
import { benchMcp } from "./mcp.js";
import { latency, median, type TurnTimes, throughput, turnTimes } from "./measure.js";
import { benchPage } from "./page.js";
import { benchProfile } from "./profile.js";
import { benchIds, openIds } from "./seen-ids.js";
import { benchSessions } from "./sessions.js";
import { type SubjectName, startSubject, usedHome } from "./subject.js";

interface Round {
  readonly firstPollMs: number;
  readonly startCpuMs: number;
  readonly messageCpuMs: number;
  readonly idleMb: number;
  readonly latencyMs: number;
  readonly perSecond: number;
  readonly loadedMb: number;
}

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const names: readonly SubjectName[] = ["echo", "bare", "maxclaw"];
const [, self = "", what, home = ""] = process.argv;
if (what === "ids") process.exit((await benchIds(self)) ? 0 : 1);
if (what === "ids-open") {
  await openIds(home);
  process.exit(0);
}
if (what === "page") process.exit((await benchPage()) ? 0 : 1);
if (what === "cluster") process.exit((await benchCluster(self, process.argv.slice(3), rounds)) ? 0 : 1);
await using model = await startFakeModel();
if (process.argv[2] === "mcp") process.exit((await benchMcp(model, rounds)) ? 0 : 1);
if (process.argv[2] === "profile") {
  await benchProfile(model);
  process.exit(0);
}
if (process.argv[2] === "sessions") process.exit((await benchSessions(model, rounds, 500)) ? 0 : 1);

const results = new Map<SubjectName, Round[]>(names.map((name) => [name, []]));
for (let round = 0; round < rounds; round++) for (const name of names) results.get(name)?.push(await measure(name));
const newHomeMs = await inNewHome();
const helloBytes = await helloRequest();
const long = await longSession();
await using installed = await installProgram();
const size = await sizeOfInstall(installed.project);

const of = (name: SubjectName, key: keyof Round): number =>
  median((results.get(name) ?? []).map((round) => round[key]));
const rows: readonly (readonly [
  what: string,
  echo: string,
  bare: string,
  maxclaw: string,
  budget: string,
  ok: boolean,
])[] = [
  row("start to the first poll, ms", "firstPollMs", "≤ bare × 1.5 + 50", within("firstPollMs", 1.5, 50)),
  row("CPU of the start, ms", "startCpuMs", "", true),
  single("first start ever to the first poll, ms", newHomeMs, "", true),
  row("idle RSS, MB", "idleMb", "≤ 110", of("maxclaw", "idleMb") <= 110),
  row("p50 per message, ms", "latencyMs", "≤ bare × 2", within("latencyMs", 2)),
  row(
    "messages/s, 50 chats",
    "perSecond",
    "≥ bare × 0.65",
    of("maxclaw", "perSecond") >= 0.65 * of("bare", "perSecond"),
  ),
  row("CPU per message, ms, 50 chats", "messageCpuMs", "≤ bare × 2", within("messageCpuMs", 2)),
  row("RSS after the load, MB", "loadedMb", "", true),
  single('request for "hello", bytes', helloBytes, "≤ 8192", helloBytes <= 8192),
  single("session of 2,000: arrival → model, ratio", long.beforeRatio, "≤ 1.5", long.beforeRatio <= 1.5),
  single("session of 2,000: last byte → send, ratio", long.afterRatio, "≤ 1.5", long.afterRatio <= 1.5),
  single("serialising that request, ms", long.serialiseMs, "", true),
  single("install without options, MB", size.megabytes, "≤ 30", size.megabytes <= 30),
  single("packages", size.packages, "≤ 15", size.packages <= 15),
];
print(rows);
process.exitCode = rows.every((one) => one[5]) ? 0 : 1;

/** So many times what the bare bot takes, and so much more. */
function within(key: keyof Round, times: number, more = 0): boolean {
  return of("maxclaw", key) <= of("bare", key) * times + more;
}

async function measure(name: SubjectName): Promise<Round> {
  await using home = name === "maxclaw" ? await usedHome(model) : undefined;
  await using subject = await startSubject(name, model, home?.folder);
  const startCpuMs = await subject.cpuMs();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const idleMb = await subject.rssMegabytes();
  const latencyMs = await latency(subject, 150);
  const before = await subject.cpuMs();
  const perSecond = await throughput(subject, 50, 20);
  const messageCpuMs = ((await subject.cpuMs()) - before) / 1000;
  const { firstPollMs } = subject;
  const loadedMb = await subject.rssMegabytes();
  return { firstPollMs, startCpuMs, idleMb, latencyMs, perSecond, messageCpuMs, loadedMb };
}

async function inNewHome(): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await using subject = await startSubject("maxclaw", model);
    times.push(subject.firstPollMs);
  }
  return median(times);
}

async function helloRequest(): Promise<number> {
  await using subject = await startSubject("maxclaw", model);
  subject.telegram.pushText({ chatId: 1, userId: 1, text: "hello" });
  await subject.telegram.waitForSent(1);
  return Buffer.byteLength(model.last?.body ?? "");
}

/** A session of 2,000 messages against new ones, in one process. */
async function longSession(): Promise<{ beforeRatio: number; afterRatio: number; serialiseMs: number }> {
  const home = await mkdtemp(join(tmpdir(), "maxclaw-bench-"));
  try {
    await using subject = await startSubject("maxclaw", model, home);
    for (let n = 0; n < 1000; n++) {
      const sent = subject.telegram.sent.length;
      subject.telegram.pushText({ chatId: 5, userId: 5, text: `message ${n} of a long conversation` });
      await subject.telegram.waitForSent(sent + 1);
    }
    const newChats = (from: number): number[] => Array.from({ length: 60 }, (_, n) => from + n);
    await turnTimes(subject, model, newChats(10_000));
    const pairs: { readonly fresh: TurnTimes; readonly old: TurnTimes }[] = [];
    // Alternating and many, because neighbours on a shared machine come and go.
    for (let round = 0; round < 3 * rounds; round++)
      pairs.push({
        fresh: await turnTimes(subject, model, newChats(20_000 + 1000 * round)),
        old: await turnTimes(subject, model, new Array<number>(60).fill(5)),
      });
    return {
      beforeRatio: median(pairs.map(({ fresh, old }) => old.beforeMs / fresh.beforeMs)),
      afterRatio: median(pairs.map(({ fresh, old }) => old.afterMs / fresh.afterMs)),
      serialiseMs: median(pairs.map(({ old }) => old.serialiseMs)),
    };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function row(what: string, key: keyof Round, budget: string, ok: boolean) {
  return [what, ...names.map((name) => show(of(name, key))), budget, ok] as unknown as (typeof rows)[number];
}

function single(what: string, value: number, budget: string, ok: boolean): (typeof rows)[number] {
  return [what, "", "", show(value), budget, ok];
}

function show(value: number): string {
  return value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2);
}

function print(lines: typeof rows): void {
  console.log(`maxclaw beside bare grammy bots, Node ${process.version}, medians of ${rounds} runs\n`);
  console.log("| | echo bot | bare bot + model | maxclaw | budget | |\n|---|---|---|---|---|---|");
  for (const [what, echo, bare, maxclaw, budget, ok] of lines)
    console.log(`| ${what} | ${echo} | ${bare} | ${maxclaw} | ${budget} | ${ok ? "" : "MISSED"} |`);
}

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FakeModel } from "./fake-model.js";
import { throughput } from "./measure.js";
import { startSubject, usedHome } from "./subject.js";

/** A profile as V8 writes it: times in microseconds of the clock of `process.hrtime`. */
interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** Longer between two samples the process did not run: somebody else had the processor. */
const longestStepUs = 1000;
const chats = 50;
const perChat = 10;

/** Where the time of a start goes, and that of a message under load, by part: shares of what the main thread does. */
export async function benchProfile(model: FakeModel): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-profile-"));
  const flags = ["--cpu-prof", "--cpu-prof-interval=250", `--cpu-prof-dir=${folder}`];
  let started = 0;
  let from = 0;
  let to = 0;
  try {
    {
      await using home = await usedHome(model);
      await using subject = await startSubject("maxclaw", model, home.folder, {}, flags);
      started = now();
      await throughput(subject, chats, 4);
      from = now();
      await throughput(subject, chats, perChat);
      to = now();
    }
    const [name = ""] = readdirSync(folder).filter((file) => file.endsWith(".cpuprofile"));
    // V8 has just written it.
    const profile = JSON.parse(readFileSync(join(folder, name), "utf8")) as Profile;
    print("a start, up to the first poll", partsOf(profile, 0, started));
    print("a message", partsOf(profile, from, to));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function now(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

function partsOf({ nodes, startTime, samples, timeDeltas }: Profile, from: number, to: number): Map<string, number> {
  const places = new Places();
  const partOfNode = new Map(nodes.map(({ id, callFrame }) => [id, places.partOf(callFrame)]));
  const parts = new Map<string, number>();
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    at += timeDeltas[index] ?? 0;
    const part = partOfNode.get(id) ?? "";
    if (at < from || at > to || part === "(idle)") continue;
    parts.set(part, (parts.get(part) ?? 0) + Math.min(timeDeltas[index + 1] ?? 0, longestStepUs));
  }
  return parts;
}

/** Finds the part that a function belongs to, through the maps of the bundle. */
class Places {
  readonly #maps = new Map<string, SourceMap | undefined>();

  partOf({ functionName, url, lineNumber, columnNumber }: CallFrame): string {
    if (/^\((?:idle|garbage collector|program)\)$/.test(functionName)) return functionName;
    if (url === "") return "native functions of Node";
    if (url === "node:vm") return "Node: taking over what it compiled before";
    if (/bootstrap.realm/.test(url)) return "Node: its own modules";
    if (/compile|esm|module/i.test(url) && url.startsWith("node:")) return "Node: loading and compiling modules";
    if (url.includes("undici") || /webstreams|abort|event_target/.test(url))
      return "Node: fetch, its streams and signals";
    if (url.startsWith("node:")) return "Node: everything else";
    if (!url.startsWith("file:")) return "other";
    const path = fileURLToPath(url);
    const entry = this.#mapOf(path)?.findEntry(lineNumber, columnNumber);
    const source =
      entry !== undefined && "originalSource" in entry ? /\/src\/([^/]+)/.exec(entry.originalSource) : null;
    return source === null
      ? `libraries in ${/([\w.]+)-[\w-]{8}\.cjs$/.exec(path)?.[1] ?? "start"}`
      : `src/${source[1]}`;
  }

  #mapOf(path: string): SourceMap | undefined {
    if (!this.#maps.has(path))
      this.#maps.set(
        path,
        existsSync(`${path}.map`) ? new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8"))) : undefined,
      );
    return this.#maps.get(path);
  }
}

function print(what: string, parts: ReadonlyMap<string, number>): void {
  const total = [...parts.values()].reduce((sum, us) => sum + us, 0);
  console.log(`\n| ${what} | share |\n|---|---|`);
  for (const [part, us] of [...parts].sort(([, a], [, b]) => b - a))
    if (us / total >= 0.01) console.log(`| ${part} | ${((100 * us) / total).toFixed(0)} % |`);
}

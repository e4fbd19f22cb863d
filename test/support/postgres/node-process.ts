import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Timing } from "../../../src/engine/postgres/options.js";
import { until } from "../engine/engine-kit.js";

const child = fileURLToPath(new URL("../engine/children/postgres-node-child.js", import.meta.url));

/** A node of the engine in a process of its own, which can be killed and stopped. */
export interface NodeProcess extends AsyncDisposable {
  /** What it has told so far. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** Resolves once it has told this, and gives the line. */
  told(key: string, value?: unknown): Promise<Readonly<Record<string, unknown>>>;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<unknown>;
}

export function startNode(url: string, schema: string, timing: Timing): NodeProcess {
  const started: ChildProcess = spawn(process.execPath, [child, url, schema, JSON.stringify(timing)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: Readonly<Record<string, unknown>>[] = [];
  if (started.stdout !== null)
    createInterface({ input: started.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
  const ended = once(started, "close");
  const find = (key: string, value: unknown) =>
    lines.find((line) => key in line && (value === undefined || line[key] === value));
  return {
    lines,
    async told(key, value) {
      await until(`${key} ${value ?? ""}`, () => find(key, value) !== undefined, 30_000);
      return find(key, value) ?? {};
    },
    signal: (name) => void started.kill(name),
    ended,
    async [Symbol.asyncDispose]() {
      if (started.exitCode === null && started.signalCode === null) {
        started.kill("SIGKILL");
        await ended;
      }
    },
  };
}

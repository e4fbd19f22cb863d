import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type FakeTelegram, startFakeTelegram } from "../../test/support/fakes/fake-telegram.js";
import type { FakeModel } from "./fake-model.js";

/** One program under measurement, with a Bot API of its own. */
export interface Subject extends AsyncDisposable {
  readonly telegram: FakeTelegram;
  readonly pid: number | undefined;
  readonly child: ChildProcess;
  /** From the start of the process to its ready line. */
  readonly readyMs: number;
  /** Of the gateway's HTTP interface; empty for a bot, which has none. */
  readonly url: string;
  /** From the start of the process to its first question to the platform. */
  readonly firstPollMs: number;
  rssMegabytes(): Promise<number>;
  /** What all its threads have used so far. */
  cpuMs(): Promise<number>;
}

/** Beside what each has; its channels are further ones. */
export interface MoreConfig extends Readonly<Record<string, unknown>> {
  readonly channels?: Readonly<Record<string, object>>;
}

export type SubjectName = "echo" | "bare" | "maxclaw";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const limitMs = 120_000;

export async function startSubject(
  name: SubjectName,
  model: FakeModel,
  home?: string,
  more: MoreConfig = {},
  nodeArgs: readonly string[] = [],
): Promise<Subject> {
  const telegram = await startFakeTelegram({ token: "4242:bench" });
  const folder = home ?? (await mkdtemp(join(tmpdir(), "maxclaw-bench-")));
  const startedAt = performance.now();
  const child =
    name === "maxclaw"
      ? await spawnGateway(folder, telegram, model, more, nodeArgs)
      : spawnBare(name, telegram, model, nodeArgs);
  const { at, url } = await readyLine(child);
  const readyMs = at - startedAt;
  await until(() => telegram.calls("getUpdates") > 0);
  const firstPollMs = performance.now() - startedAt;
  return {
    telegram,
    pid: child.pid,
    child,
    readyMs,
    url,
    firstPollMs,
    async cpuMs() {
      const threads = await readdir(`/proc/${child.pid}/task`);
      const used = threads.map((thread) => readFile(`/proc/${child.pid}/task/${thread}/schedstat`, "utf8"));
      return (await Promise.all(used)).reduce((sum, text) => sum + Number(text.split(" ")[0]) / 1e6, 0);
    },
    async rssMegabytes() {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1000;
    },
    async [Symbol.asyncDispose]() {
      await endOf(child);
      await telegram.stop();
      if (home === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A home in which a gateway has run before: it finds what was compiled then. */
export async function usedHome(model: FakeModel): Promise<AsyncDisposable & { readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-bench-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await using _subject = await startSubject("maxclaw", model, folder);
    await until(() => existsSync(join(folder, "cache", "code", "program.bin")));
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, [Symbol.asyncDispose]: remove };
}

/** Ends a process politely, and after a while in the other way. */
export async function endOf(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), 5000);
  await gone;
  clearTimeout(force);
}

export async function spawnGateway(
  home: string,
  telegram: FakeTelegram,
  model: FakeModel,
  more: MoreConfig,
  nodeArgs: readonly string[] = [],
): Promise<ChildProcess> {
  const config = {
    agents: { defaults: { model: "openai/bench" } },
    providers: { openai: { apiKey: "sk-bench", apiBase: model.apiBase } },
    inbound: { senderPerMinute: 0, chatPerMinute: 0 },
    ...more,
    channels: {
      telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] },
      ...more.channels,
    },
  };
  await writeFile(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  return spawn(process.execPath, [...nodeArgs, join(root, "scripts/bench/bundled.mjs"), "gateway", "-p", "0"], {
    // The memory of threads as its service and its image have it.
    env: { ...process.env, MALLOC_ARENA_MAX: "1", MAXCLAW_HOME: home },
    stdio: ["ignore", "pipe", "ignore", ...channelFor(nodeArgs)],
  });
}

function spawnBare(
  name: SubjectName,
  telegram: FakeTelegram,
  model: FakeModel,
  nodeArgs: readonly string[],
): ChildProcess {
  return spawn(process.execPath, [...nodeArgs, fileURLToPath(new URL("./bare-bot.js", import.meta.url))], {
    env: {
      ...process.env,
      TOKEN: telegram.token,
      API_ROOT: telegram.url,
      ...(name === "bare" ? { MODEL: model.apiBase } : {}),
    },
    stdio: ["ignore", "pipe", "inherit", ...channelFor(nodeArgs)],
  });
}

/** What is loaded into the program wants to be asked. */
function channelFor(nodeArgs: readonly string[]): readonly "ipc"[] {
  return nodeArgs.length === 0 ? [] : ["ipc"];
}

export async function readyLine(child: ChildProcess): Promise<{ readonly at: number; readonly url: string }> {
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("Not ready in time")), limitMs);
    child.once("exit", (code) => reject(new Error(`Ended with ${code} before it was ready`)));
    child.stdout?.on("data", (chunk: Buffer) => {
      const text = chunk.toString();
      if (!text.includes("READY")) return;
      clearTimeout(timer);
      const port = /READY:127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      resolve({ at: performance.now(), url: port === undefined ? "" : `http://127.0.0.1:${port}` });
    });
  });
}

/** Waits for a condition by looking once per turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`Waited ${limitMs} ms in vain`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { loadDriver, type StorageSettings } from "../../../src/sessions/storage/packages.js";
import { createUnstorage } from "../../../src/sessions/storage/unstorage.js";
import { until } from "../engine/engine-kit.js";
import { freePort } from "./network/free-port.js";

/** A database server of its own on loopback, with its data in a temp folder. */
export interface StorageServer extends AsyncDisposable {
  /** What is under `storage` in a config that uses it; `space` keeps users of one server apart. */
  settings(space: string): StorageSettings;
  readonly port: number;
  /** Ends at once, as in a power cut; the data stays. */
  kill(): Promise<void>;
  /** Runs again on the same port, with the same data. */
  start(): Promise<void>;
  /** Keeps its connections and answers nothing. */
  pause(): void;
  resume(): void;
}

interface Program {
  readonly name: string;
  /** The Debian package that brings it. */
  readonly debian: string;
  readonly files: readonly string[];
  readonly prepare: (folder: string, run: (file: string, args: readonly string[]) => void) => void;
  readonly args: (folder: string, port: number) => readonly string[];
  readonly settings: (port: number, space: string) => StorageSettings;
  /** Runs as this user where we are root. */
  readonly user?: string;
}

const redis: Program = {
  name: "Redis",
  debian: "redis-server",
  files: ["redis-server"],
  prepare: () => {},
  args: (folder, port) => [
    ...["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--requirepass", "secret-word"],
    // Otherwise Redis answers before it has written, while it syncs what came before: a kill then loses it.
    ...["--save", "", "--appendonly", "yes", "--appendfsync", "always"],
  ],
  settings: (port, space) => ({
    driver: "redis",
    options: { url: `redis://:secret-word@127.0.0.1:${port}`, ...(space === "" ? {} : { base: space }) },
  }),
};

/** Copies a folder to where others find it, unless another process was quicker. To copy takes a fifth of the time that it takes to make it. */
function keepFor(kept: string, folder: string): void {
  const made = `${kept}.${process.pid}`;
  execFileSync("cp", ["-a", folder, made]);
  try {
    renameSync(made, kept);
  } catch {
    rmSync(made, { recursive: true, force: true });
  }
}

const postgres: Program = {
  name: "PostgreSQL",
  debian: "postgresql",
  files: ["postgres", "initdb"],
  user: "postgres",
  prepare(folder, run) {
    const data = join(folder, "data");
    const kept = process.env.MAXCLAW_TEST_CHILDREN && join(process.env.MAXCLAW_TEST_CHILDREN, "postgres-data");
    if (kept && existsSync(kept)) return void execFileSync("cp", ["-a", kept, data]);
    run("initdb", ["-D", data, "-U", "maxclaw", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
    if (kept) keepFor(kept, data);
  },
  args: (folder, port) => [
    ...["-D", join(folder, "data"), "-p", `${port}`, "-h", "127.0.0.1", "-k", folder],
    ...["-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=100"],
  ],
  settings: (port, space) => ({
    driver: "db0",
    options: {
      connector: "postgresql",
      url: `postgresql://maxclaw@127.0.0.1:${port}/postgres`,
      tableName: `sessions_${space}`,
    },
  }),
};

const mariadb: Program = {
  name: "MariaDB",
  debian: "mariadb-server",
  files: ["mariadbd", "mariadb-install-db"],
  prepare(folder, run) {
    run("mariadb-install-db", [
      ...["--no-defaults", `--datadir=${join(folder, "data")}`, "--auth-root-authentication-method=normal"],
      ...["--skip-test-db", ...asRoot(["--user=root"])],
    ]);
    writeFileSync(
      join(folder, "init.sql"),
      "CREATE DATABASE IF NOT EXISTS maxclaw;\n" +
        "CREATE USER IF NOT EXISTS maxclaw@'%' IDENTIFIED BY 'secret-word';\nGRANT ALL ON maxclaw.* TO maxclaw@'%';\n",
    );
  },
  args: (folder, port) => [
    ...["--no-defaults", `--datadir=${join(folder, "data")}`, `--init-file=${join(folder, "init.sql")}`],
    ...[`--port=${port}`, "--bind-address=127.0.0.1", `--socket=${join(folder, "s")}`, "--skip-name-resolve"],
    ...[
      "--innodb-buffer-pool-size=16M",
      "--innodb-log-file-size=8M",
      "--innodb-flush-log-at-trx-commit=2",
      ...asRoot(["--user=root"]),
    ],
  ],
  settings: (port, space) => ({
    driver: "db0",
    options: {
      ...{ connector: "mysql2", host: "127.0.0.1", port, user: "maxclaw", password: "secret-word" },
      ...{ database: "maxclaw", tableName: `sessions_${space}` },
    },
  }),
};

export const servers = { redis, postgres, mariadb } as const;
export type ServerName = keyof typeof servers;

/** For a test's `skip`: why it cannot run on this machine. */
export function withoutServer(server: ServerName): string | false {
  const { name, debian, files } = servers[server];
  return files.some((file) => find(file) === undefined) && `needs ${name} (Debian: apt-get install ${debian})`;
}

/** What a test does in another way. */
interface OwnWay {
  readonly prepare?: Program["prepare"];
  /** Default: it gives what a storage asks for. */
  readonly isReady?: (port: number) => Promise<boolean>;
}

/** Resolves once the server takes queries. `more` are arguments behind its own. */
export async function startServer(
  server: ServerName,
  more: readonly string[] = [],
  { prepare, isReady }: OwnWay = {},
): Promise<StorageServer> {
  const program = servers[server];
  const folder = mkdtempSync(join(tmpdir(), `maxclaw-${server}-`));
  const owner = isRoot() ? program.user : undefined;
  const ids = owner === undefined ? {} : { uid: idOf("-u", owner), gid: idOf("-g", owner) };
  if (ids.uid !== undefined) chownSync(folder, ids.uid, ids.gid);
  mkdirSync(join(folder, "home"));
  const env = { PATH: process.env.PATH ?? "", HOME: folder, LC_ALL: "C" };
  const run = (file: string, args: readonly string[]): void => {
    execFileSync(find(file) ?? file, args, { cwd: folder, env, stdio: "pipe", timeout: 60_000, ...ids });
  };
  (prepare ?? program.prepare)(folder, run);

  const port = await freePort();
  let child: ChildProcess | undefined;
  let said = "";
  const launch = async (): Promise<void> => {
    const [file, args] = dyingWithUs(find(program.files[0] ?? "") ?? "", [...program.args(folder, port), ...more]);
    const started = spawn(file, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], ...ids });
    child = started;
    said = "";
    for (const stream of [started.stdout, started.stderr])
      stream.on("data", (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-4000);
      });
    await until(
      `${program.name} takes queries`,
      async () => {
        if (started.exitCode !== null) throw new Error(`${program.name} ended with ${started.exitCode}:\n${said}`);
        return await (isReady?.(port) ?? answers(program.settings(port, "ready")));
      },
      30_000,
    );
  };
  const signalAll = (name: NodeJS.Signals): void => {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    for (const pid of [child.pid, ...childrenOf(child.pid)]) signalIfAlive(pid, name);
  };
  const kill = async (): Promise<void> => {
    const ending = child;
    if (ending === undefined) return;
    const ended = new Promise((resolve) => ending.once("close", resolve));
    signalAll("SIGKILL");
    await ended;
    child = undefined;
  };
  await launch();
  return {
    port,
    settings: (space) => program.settings(port, space),
    kill,
    start: launch,
    pause: () => signalAll("SIGSTOP"),
    resume: () => signalAll("SIGCONT"),
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function answers(settings: StorageSettings): Promise<boolean> {
  await using storage = createUnstorage({ name: settings.driver, open: await loadDriver(settings), timeoutMs: 2000 });
  return await storage.get("sessions:webui:ready").then(
    () => true,
    () => false,
  );
}

/** A server's process may end by itself between being listed and being signalled. */
function signalIfAlive(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** PostgreSQL serves each connection in a process of its own. */
function childrenOf(pid: number): readonly number[] {
  const list = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(list)) return [];
  return readFileSync(list, "utf8").split(" ").filter(Boolean).map(Number);
}

/** On Linux a server ends with the test that started it, however that ends. */
function dyingWithUs(file: string, args: readonly string[]): readonly [string, readonly string[]] {
  const setpriv = find("setpriv");
  return process.platform !== "linux" || setpriv === undefined
    ? [file, args]
    : [setpriv, ["--pdeathsig", "SIGKILL", file, ...args]];
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function asRoot(args: readonly string[]): readonly string[] {
  return isRoot() ? args : [];
}

function idOf(flag: "-u" | "-g", user: string): number {
  return Number(execFileSync("id", [flag, user], { encoding: "utf8" }));
}

/** A program on the path, or where Debian keeps servers. */
function find(file: string): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env.PATH ?? "").split(delimiter),
    ...["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"],
    ...versions.map((version) => join(debian, version, "bin")),
  ];
  return folders.map((folder) => join(folder, file)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

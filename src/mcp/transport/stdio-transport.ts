import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { settledWithin } from "../../util/async/within.js";
import { withoutLargeTools } from "../connection/large-tools.js";
import { emptyServerFolder } from "../server-folder.js";
import type { McpLimits } from "../settings.js";
import { serverEnvironment } from "./environment.js";
import { createFloodGuard, type FloodGuard } from "./flood.js";
import { createLineReader } from "./lines.js";
import { StderrTail } from "./stderr-tail.js";

/**
 * Is between the gateway and a server: the server takes the shell's place, and a watcher beside it ends the whole
 * process group when the gateway's end of descriptor 3 is closed, which the system does even after `kill -9`. The server
 * has a second to put its things in order.
 */
const supervised = `(trap '' HUP INT TERM; read -r _ <&3; kill -TERM 0; sleep 1; kill -KILL 0) </dev/null >/dev/null 2>&1 &
exec "$@" 3<&-`;

/** Between two pieces of its stderr, so that one which pours there is slowed down instead of heard. */
const stderrPauseMs = 5;

export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Ours, made empty when the server starts. */
  readonly folder: string;
  /** Named by the owner, to begin there instead. */
  readonly cwd?: string | undefined;
  /** Others may write there. */
  readonly closed: readonly string[];
  /** Takes secrets out of what it says. */
  readonly mask: (text: string) => string;
}

/**
 * An MCP server as a child process, in a group of its own: newline-delimited JSON both ways. Lines that are not JSON-RPC
 * are skipped. A line over the limit, or a flood of what nobody asked for, ends the server.
 */
export class StdioTransport implements Transport {
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  onmessage: Transport["onmessage"];

  readonly #server: StdioServer;
  readonly #limits: McpLimits;
  readonly #flood: FloodGuard;
  #child: ChildProcess | undefined;
  readonly #stderr: StderrTail;
  #why: string | undefined;
  #isClosed = false;
  #endedItself = false;
  #exited: Promise<void> = Promise.resolve();

  constructor(server: StdioServer, limits: McpLimits) {
    this.#server = server;
    this.#limits = limits;
    this.#stderr = new StderrTail(server.mask);
    this.#flood = createFloodGuard(limits.maxUnasked, limits.floodMs);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** By this and `pid` the client knows that silence may be an older server's, and that nobody else listens here. */
  get stderr(): null {
    return null;
  }

  /** Nobody had ended it, and it had been found. */
  get endedItself(): boolean {
    return this.#endedItself;
  }

  /** Why it ended, as far as that is known. */
  get reason(): string | undefined {
    const said = this.#stderr.said();
    return this.#why === undefined || said === "" ? this.#why : `${this.#why}: ${said}`;
  }

  async start(): Promise<void> {
    const { command, args, env, folder, cwd, closed } = this.#server;
    if (cwd === undefined) await emptyServerFolder(folder);
    if (this.#isClosed) throw new Error("it was closed before it had started");
    const isFolderless = cwd === undefined && !args.some((arg) => /\.pyz?w?$/.test(arg));
    const isSupervised = process.platform !== "win32";
    const [file, all] = isSupervised
      ? ["/bin/sh", ["-c", supervised, "maxclaw-mcp", command, ...args]]
      : [command, [...args]];
    const child = spawn(file, all, {
      cwd: cwd ?? folder,
      env: serverEnvironment({ named: env, closed, isFolderless }),
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      detached: isSupervised,
      windowsHide: true,
    });
    this.#child = child;
    this.#listen(child);
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || stdin === null || this.#isClosed) throw new Error("the server has ended");
    if (stdin.writableLength > this.#limits.maxFrameBytes) throw new Error("the server does not read its input");
    this.#flood.asked(message);
    stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Closes its input, then asks its group to end, then ends it. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return this.#closed();
    child.stdin?.end();
    if (!(await this.#endsWithin(this.#limits.stopMs))) {
      signalGroup(child.pid, "SIGTERM");
      await this.#endsWithin(this.#limits.stopMs);
    }
    this.#kill();
    await this.#endsWithin(this.#limits.stopMs);
    this.#closed();
  }

  #listen(child: ChildProcess): void {
    const read = createLineReader(
      this.#limits.maxFrameBytes,
      (line) => {
        if (this.#why !== undefined) return;
        const message = toMessage(line);
        if (!this.#flood.isExpected(message)) this.#end("it flooded the gateway with messages that nobody asked for");
        if (message !== undefined && this.#why === undefined) this.onmessage?.(withoutLargeTools(message));
      },
      () => this.#end(`it sent a message of more than ${Math.round(this.#limits.maxFrameBytes / 1024)} kB`),
    );
    // Pipes, as they were asked for.
    const [stdin, stdout, stderr, lifeline] = child.stdio as unknown as [Writable, Readable, Readable, Writable];
    stdout.on("data", (chunk: Buffer) => read(chunk));
    stderr.on("data", (chunk: Buffer) => {
      this.#stderr.push(chunk);
      stderr.pause();
      setTimeout(() => stderr.resume(), stderrPauseMs).unref();
    });
    for (const stream of [stdin, stdout, stderr, lifeline]) stream.on("error", () => {});
    this.#exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#endedItself = this.#why === undefined && code !== 127;
        this.#why ??= code === 127 ? "its command was not found" : `it ended with ${signal ?? `code ${code}`}`;
        // Whatever it started and left behind ends with it.
        lifeline.destroy();
        resolve();
      });
      child.once("error", (error) => {
        this.#why ??= error.message;
        resolve();
      });
    });
    child.once("close", () => this.#closed());
    // Somebody who left the group may still hold its output open.
    void this.#exited.then(() => setTimeout(() => this.#closed(), this.#limits.stopMs).unref());
  }

  #end(why: string): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    this.#kill();
  }

  #kill(): void {
    const { pid, stdio, exitCode = null, signalCode = null } = this.#child ?? {};
    if (pid === undefined) return;
    stdio?.[3]?.destroy();
    // The number of a process that is gone may be another's by now; what it left behind is the watcher's.
    if (exitCode === null && signalCode === null) signalGroup(pid, "SIGKILL");
  }

  #endsWithin(ms: number): Promise<boolean> {
    return settledWithin(this.#exited, { ms });
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stream of this.#child?.stdio ?? []) stream?.destroy();
    this.onclose?.();
  }
}

function toMessage(line: string): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // Nobody is left in it.
  }
}

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { createZones } from "../../../../src/policy/locations/zones.js";
import { execTool } from "../../../../src/tools/exec/exec.js";
import { createLimits, type Limits } from "../../../../src/tools/exec/limits.js";
import { processTool } from "../../../../src/tools/exec/process.js";
import type { QuotaLimits } from "../../../../src/tools/exec/quota.js";
import { createSandbox, type SandboxOptions } from "../../../../src/tools/exec/sandbox/find.js";
import type { SandboxState } from "../../../../src/tools/exec/sandbox/sandbox.js";
import { type TerminalChange, Terminals } from "../../../../src/tools/exec/terminals.js";
import type { ToolContext, ToolResult } from "../../../../src/tools/tool.js";
import { until } from "../../engine/engine-kit.js";
import { type ContextOptions, createToolPlace, type ToolPlace } from "./tool-context.js";

/** The shell tools on a workspace of their own, with the real policy and, unless it is off, the real sandbox. */
export interface ExecPlace extends AsyncDisposable {
  readonly place: ToolPlace;
  readonly home: string;
  readonly terminals: Terminals;
  readonly changes: readonly TerminalChange[];
  readonly sandbox: () => SandboxState;
  run(command: string, options?: RunOptions): Promise<ToolResult>;
  process(input: unknown, options?: RunOptions): Promise<ToolResult>;
}

export interface RunOptions extends ContextOptions {
  readonly timeout?: number;
  readonly network?: boolean;
  readonly background?: boolean;
  /** Another chat. Default `telegram:42`. */
  readonly session?: string;
  readonly freshEnvironment?: boolean;
  /** Instead of policy. */
  readonly permit?: ToolContext["permit"];
}

export interface ExecPlaceOptions {
  readonly sandboxMode?: "auto" | "off" | "required";
  readonly search?: SandboxOptions["search"];
  readonly limits?: Limits;
  readonly network?: "ask" | "off";
  readonly idleMs?: number;
  readonly quota?: Partial<QuotaLimits>;
  readonly refreshMs?: number;
  /** Where the workspace and the home are made. Default: among the system's temporary files. */
  readonly root?: string;
}

export function createExecPlace(options: ExecPlaceOptions = {}): ExecPlace {
  const { sandboxMode = "auto", search, limits = createLimits(), network = "ask", idleMs = 60_000, quota } = options;
  const place = createToolPlace(options.root);
  const home = path.join(place.root, "home");
  place.file("home/secrets.json", '{"TOKEN":"gateway-secret"}');
  place.file("home/config.json", '{"key":"gateway-secret"}');
  place.file("ws-evil/loot.txt", "twin-secret");
  place.file("ws/notes.txt", "shared notes");
  place.file("ws/AGENTS.md", "be good");
  place.file("ws/.env", "KEY=env-secret");
  place.file("ws/project/.env", "KEY=env-secret");
  place.file("ws/project/readme.txt", "project readme");
  place.file("ws/skills/weather/SKILL.md", "a skill");
  place.file("ws/.uploads/sent.txt", "upload-secret");
  place.file("ws/.sessions/telegram_43/private.txt", "other-secret");
  place.file("ws/.sessions/telegram_43.events.jsonl", "other-secret");
  place.file("ws/.sessions/telegram_42.events.jsonl", "log-secret");
  const stopping = new AbortController();
  const changes: TerminalChange[] = [];
  const isOn = sandboxMode !== "off";
  const sandbox = createSandbox({ isOn, limits: () => limits, onTried: () => undefined, search }, stopping.signal);
  const terminals = new Terminals({
    workspace: place.workspace,
    home,
    timeZone: "UTC",
    zones: createZones({ workspace: place.workspace, home }),
    limits: () => limits,
    quota: { maxBytes: 1024 ** 3, maxFiles: 50_000, minFreeBytes: 0, ...quota },
    refreshMs: options.refreshMs ?? 10_000,
    tempRoot: path.join(home, "terminals"),
    idleMs,
    onChange: (change) => void changes.push(change),
  });
  const exec = execTool({ terminals, sandbox, timeoutSeconds: () => 30, sandboxMode, network: () => network });
  const background = processTool(terminals);
  const contextOf = (tool: typeof exec, more: RunOptions): ToolContext => {
    const sessionKey = more.session ?? "telegram:42";
    const folder = path.join(place.workspace, ".sessions", sessionKey.replace(":", "_"));
    const context = place.context(tool, { ...more, folder });
    const allowedByRule = (): boolean => more.freshEnvironment === true;
    const permissions = { ...context.permissions, allowedByRule };
    return { ...context, sessionKey, permit: more.permit ?? context.permit, permissions };
  };
  return {
    place,
    home,
    terminals,
    changes,
    sandbox: () => sandbox.state,
    async run(command, more = {}) {
      const { timeout, network: wanted, background: isBackground } = more;
      const input = { command, timeout, network: wanted, background: isBackground };
      return await exec.run(exec.input.parse(input), contextOf(exec, more));
    },
    process: async (input, more = {}) =>
      await background.run(background.input.parse(input), contextOf(background, more)),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await terminals[Symbol.asyncDispose]();
      place[Symbol.dispose]();
    },
  };
}

/** Ids of the processes with this command line; those that have ended and wait for their parent do not count. */
export function processesOf(text: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trimEnd() === text;
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Waits until no process has this command line. */
export async function untilGone(text: string): Promise<void> {
  await until(`the processes of ${text} are gone`, () => processesOf(text).length === 0, 20_000);
}

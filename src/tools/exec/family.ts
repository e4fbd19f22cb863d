import { join } from "node:path";
import type { Logger } from "../../log.js";
import { createZones } from "../../policy/locations/zones.js";
import type { EnvironmentChange, Environments, SessionTurn, ToolFamily } from "../family.js";
import type { FolderLimits } from "../folder-usage.js";
import { execTool } from "./exec.js";
import { createLimits, type Limits } from "./limits.js";
import { processTool } from "./process.js";
import { createSandbox } from "./sandbox/find.js";
import type { SandboxState } from "./sandbox/sandbox.js";
import { Terminals } from "./terminals.js";

/** Long enough after the start to be in nobody's way, and soon enough for whoever asks for the status. */
const trialAfterMs = 2000;
const idleMs = 30 * 60 * 1000;
/** Of the disk: the gateway needs some of it to go on. */
const minFreeBytes = 512 * 1024 ** 2;
const refreshMs = 10_000;
const sandboxId = "sandbox";

/** The section `tools.exec` of the config, as far as the shell needs it. */
export interface ExecSettings {
  /** In seconds. */
  readonly timeout: number;
  readonly sandbox: "auto" | "off" | "required";
  readonly network: "ask" | "off";
}

export interface ExecScope {
  readonly home: string;
  readonly workspace: string;
  readonly executionMode: "ask" | "auto" | "safe";
  /** IANA name. */
  readonly timeZone: string;
  /** What a session's folder may hold. */
  readonly folderLimits: FolderLimits;
  /** False: commands that only look; the sandbox is not tried. */
  readonly isWorking: boolean;
  readonly environments: Environments;
  readonly log: Logger;
}

/** The shell. */
export interface ExecFamily extends ToolFamily {
  readonly sandbox: () => SandboxState & { readonly bare?: Bare; readonly memory?: string };
  readonly close: () => Promise<void>;
}

export function openExec(settings: ExecSettings, scope: ExecScope): ExecFamily {
  const { timeout, sandbox: sandboxMode, network } = settings;
  const { executionMode, isWorking, environments, log } = scope;
  const stopping = new AbortController();
  const limits = once(createLimits);
  const bare = bareCommands(executionMode, sandboxMode);
  const sandbox = createSandbox(
    {
      isOn: sandboxMode !== "off",
      limits,
      onTried(state) {
        if (state.state === "unavailable") log.warn(`Commands have no sandbox. ${bareText[bare]}: ${state.reason}`);
        environments.logChange(undefined, sandboxChange(state));
      },
    },
    stopping.signal,
  );
  const terminals = openTerminals(scope, limits);
  const unsubscribe = environments.onSession((key, turn) => endTerminal(terminals, key, turn));
  environments.onDelete("terminals", {
    close: (key) => terminals.close(key, "the session is deleted", { isReported: false }),
  });
  const timer = isWorking ? setTimeout(() => void sandbox.find(), trialAfterMs).unref() : undefined;
  return {
    tools: [execTool({ terminals, sandbox, timeoutSeconds: timeout, sandboxMode, network }), processTool(terminals)],
    sandbox: () => ({ ...sandbox.state, ...bareNote(sandbox.state, bare), ...memoryNote(limits()) }),
    async close() {
      clearTimeout(timer);
      unsubscribe();
      stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
      await Promise.all([sandbox.stopped(), terminals[Symbol.asyncDispose]()]);
    },
  };
}

function openTerminals(scope: ExecScope, limits: () => Limits): Terminals {
  const { home, workspace, folderLimits, environments } = scope;
  return new Terminals({
    workspace,
    home,
    get timeZone() {
      return scope.timeZone;
    },
    zones: createZones({ workspace, home }),
    limits,
    quota: { ...folderLimits, minFreeBytes },
    refreshMs,
    tempRoot: join(home, "terminals"),
    idleMs,
    onChange: ({ sessionKey, ...change }) => environments.logChange(sessionKey, { kind: "terminal", ...change }),
  });
}

function endTerminal(terminals: Terminals, key: string, turn: SessionTurn): void {
  switch (turn) {
    case "completed":
    case "aborted":
      void terminals.close(key, `the session is ${turn}`);
      return;
    case "fresh":
      // What others wrote is left behind with it: variables, what was written to /tmp and what still runs.
      if (terminals.find(key)?.isForeign === true)
        void terminals.close(key, "a fresh conversation leaves behind what others had a say in");
      return;
    default:
      turn satisfies never;
  }
}

function once<T>(make: () => T): () => T {
  const made: { one?: { readonly value: T } } = {};
  return () => {
    made.one ??= { value: make() };
    return made.one.value;
  };
}

type Bare = "ask" | "unasked" | "none";

/** What becomes of commands where there is no sandbox. */
function bareCommands(mode: ExecScope["executionMode"], sandboxMode: ExecSettings["sandbox"]): Bare {
  if (mode === "safe" || sandboxMode === "required") return "none";
  return mode === "auto" ? "unasked" : "ask";
}

const bareText: Readonly<Record<Bare, string>> = {
  ask: "Each one asks",
  unasked: "Mode auto runs most of them without asking",
  none: "None runs",
};

function bareNote({ state }: SandboxState, bare: Bare): { readonly bare?: Bare } {
  return state === "off" || state === "unavailable" ? { bare } : {};
}

function memoryNote({ holdsMemory }: Limits): { readonly memory?: string } {
  if (holdsMemory) return {};
  return { memory: "not limited: control groups cannot be made here, so a command can use all memory of this machine" };
}

function sandboxChange(to: SandboxState): EnvironmentChange {
  const detail = to.state === "unavailable" ? to.reason : to.state === "ready" ? to.name : undefined;
  return {
    kind: "sandbox",
    id: sandboxId,
    from: "starting",
    to: to.state === "ready" ? "ready" : "failed",
    ...(detail === undefined ? {} : { detail }),
  };
}

import { join } from "node:path";
import { messageOf } from "../errors.js";
import { draft, type EventDraft } from "../events/event.js";
import { createZones } from "../policy/places/zones.js";
import { execTool } from "../tools/exec/exec.js";
import { createSandbox } from "../tools/exec/find-sandbox.js";
import { createLimits, type Limits } from "../tools/exec/limits.js";
import { processTool } from "../tools/exec/process.js";
import type { SandboxState } from "../tools/exec/sandbox.js";
import { Terminals } from "../tools/exec/terminals.js";
import type { Tool } from "../tools/tool.js";
import type { Releases } from "../util/async/releases.js";
import type { Core } from "./core.js";
import { folderLimitsOf } from "./folder-limits.js";
import type { GatewayOptions } from "./options.js";

/** Long enough after the start to be in nobody's way, and soon enough for whoever asks for the status. */
const trialAfterMs = 2000;
const idleMs = 30 * 60 * 1000;
/** Of the disk: the gateway needs some of it to go on. */
const minFreeBytes = 512 * 1024 ** 2;
const refreshMs = 10_000;
const sandboxId = "sandbox";

/** The shell. */
export interface Exec {
  readonly tools: readonly Tool[];
  readonly sandbox: () => SandboxState & { readonly bare?: Bare; readonly memory?: string };
}

export function openExec(options: GatewayOptions, core: Core, releases: Releases): Exec {
  const { home, log } = options;
  const { agents, tools } = options.config.config;
  const { workspace } = agents.defaults;
  const { timeout, sandbox: sandboxMode, network } = tools.exec;
  const stopping = new AbortController();
  const made: { limits: Limits | undefined } = { limits: undefined };
  const limits = (): Limits => {
    made.limits ??= createLimits();
    return made.limits;
  };
  const bare = bareCommands(agents.defaults.executionMode, sandboxMode);
  const bareNote = ({ state }: SandboxState) => (state === "off" || state === "unavailable" ? { bare } : {});
  const sandbox = createSandbox(
    {
      isOn: sandboxMode !== "off",
      limits,
      onTried(state) {
        if (state.state === "unavailable") log.warn(`Commands have no sandbox. ${bareText[bare]}: ${state.reason}`);
        core.tell(sandboxEvent(state));
      },
    },
    stopping.signal,
  );
  const terminals = new Terminals({
    workspace,
    home,
    timeZone: agents.defaults.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    zones: createZones({ workspace, home }),
    limits,
    quota: { ...folderLimitsOf(options.config.config), minFreeBytes },
    refreshMs,
    tempRoot: join(home, "terminals"),
    idleMs,
    onChange({ sessionKey, id, from, to, detail }) {
      const payload = { kind: "terminal" as const, environment_id: id, from, to, detail };
      void core.engine
        .append(sessionKey, [draft("environment_state_changed", payload, { source: "gateway" })], { durable: false })
        .catch((error: unknown) => log.warn(`The state of a terminal was not told: ${messageOf(error)}`));
    },
  });
  core.lives.onClose("terminals", (key) => terminals.close(key, "the session is deleted", { isTold: false }));
  const unsubscribe = core.events.on("session_state_changed", ({ session_key, payload: { to } }) => {
    if (to === "completed" || to === "aborted") void terminals.close(session_key, `the session is ${to}`);
  });
  const unsubscribeFresh = core.events.on("session_history_changed", ({ session_key, payload: { kind } }) => {
    // What others wrote is left behind with it: variables, what was written to /tmp and what still runs.
    if (kind === "new" && terminals.find(session_key)?.isForeign === true)
      void terminals.close(session_key, "a fresh conversation leaves behind what others had a say in");
  });
  const timer = options.work === false ? undefined : setTimeout(() => void sandbox.find(), trialAfterMs).unref();
  releases.defer(async () => {
    clearTimeout(timer);
    unsubscribe();
    unsubscribeFresh();
    stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await Promise.all([sandbox.stopped(), terminals[Symbol.asyncDispose]()]);
  });
  return {
    tools: [execTool({ terminals, sandbox, timeoutSeconds: timeout, sandboxMode, network }), processTool(terminals)],
    sandbox: () => ({ ...sandbox.state, ...bareNote(sandbox.state), ...memoryNote(limits()) }),
  };
}

type Bare = "ask" | "unasked" | "none";

/** What becomes of commands where there is no sandbox. */
function bareCommands(mode: "ask" | "auto" | "safe", sandboxMode: "auto" | "off" | "required"): Bare {
  if (mode === "safe" || sandboxMode === "required") return "none";
  return mode === "auto" ? "unasked" : "ask";
}

const bareText: Readonly<Record<Bare, string>> = {
  ask: "Each one asks",
  unasked: "Mode auto runs most of them without asking",
  none: "None runs",
};

function memoryNote({ holdsMemory }: Limits): { readonly memory?: string } {
  if (holdsMemory) return {};
  return { memory: "not limited: control groups cannot be made here, so a command can use all memory of this machine" };
}

function sandboxEvent(to: SandboxState): EventDraft {
  const detail = to.state === "unavailable" ? to.reason : to.state === "ready" ? to.name : undefined;
  return draft(
    "environment_state_changed",
    {
      kind: "sandbox",
      environment_id: sandboxId,
      from: "starting",
      to: to.state === "ready" ? "ready" : "failed",
      ...(detail === undefined ? {} : { detail }),
    },
    { source: "gateway" },
  );
}

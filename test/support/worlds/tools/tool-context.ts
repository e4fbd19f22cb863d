import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ExecutionMode, Role } from "../../../../src/policy/access.js";
import { createPolicy } from "../../../../src/policy/policy.js";
import type { PolicyRule } from "../../../../src/policy/rules.js";
import type { Tool, ToolContext, ToolResult } from "../../../../src/tools/tool.js";

export interface ToolPlace extends Disposable {
  /** Holds the workspace and what lies outside of it. */
  readonly root: string;
  readonly workspace: string;
  /** `<workspace>/.sessions/telegram_42`, not created. */
  readonly folder: string;
  /** Creates a file with its folders; relative to `root`. Returns its path. */
  file(name: string, content: string | Uint8Array): string;
  /** A call's context with the real policy behind `permit`. */
  context(tool: Tool, options?: ContextOptions): ToolContext;
  run(tool: Tool, input: unknown, options?: ContextOptions): Promise<ToolResult>;
}

export interface ContextOptions {
  readonly mode?: ExecutionMode;
  readonly role?: Role;
  readonly restrictToWorkspace?: boolean;
  readonly workspace?: string;
  /** Default: that of the one session. */
  readonly folder?: string;
  readonly rules?: readonly PolicyRule[];
  readonly signal?: AbortSignal;
  readonly toolCallId?: string;
  readonly whyFull?: ToolContext["files"]["whyFull"];
  readonly readSkill?: ToolContext["agent"]["readSkill"];
  readonly ask?: ToolContext["ask"];
  readonly isSubAgent?: boolean;
  readonly send?: ToolContext["chat"]["send"];
  readonly artifact?: ToolContext["chat"]["artifact"];
  readonly tasks?: ToolContext["agent"]["tasks"];
  /** What others wrote in the context. */
  readonly outside?: readonly string[];
  readonly receivedHere?: ToolContext["conversation"]["receivedHere"];
  readonly knowsAddress?: ToolContext["conversation"]["knowsAddress"];
  readonly wrote?: ToolContext["files"]["wrote"];
  readonly startRun?: ToolContext["commands"]["startRun"];
}

/** The label of a command in which nobody has a say but who it is told. */
const startCleanRun: ToolContext["commands"]["startRun"] = async (sees) => {
  const sources = [...sees];
  return { outside: () => sources[0], add: async (more) => void sources.push(...more), end: async () => undefined };
};

const noTask = () => Promise.reject(new Error("nobody starts sub-agents here"));
const noTasks: ToolContext["agent"]["tasks"] = { start: noTask, list: () => [], get: noTask, cancel: noTask };

/** A workspace in a folder of its own, with one session. */
export function createToolPlace(below = tmpdir()): ToolPlace {
  const root = realpathSync(mkdtempSync(path.join(below, "maxclaw-tools-")));
  const workspace = path.join(root, "ws");
  const folder = path.join(workspace, ".sessions", "telegram_42");
  mkdirSync(workspace);

  const context: ToolPlace["context"] = (tool, options = {}) => {
    const at = options.workspace ?? workspace;
    const own = options.folder ?? path.join(at, ".sessions", "telegram_42");
    const policy = createPolicy({
      executionMode: options.mode ?? "ask",
      workspace: at,
      restrictToWorkspace: options.restrictToWorkspace ?? true,
      owners: [],
      channels: {},
      rules: options.rules,
    });
    const role = options.role ?? "owner";
    const audience = role === "owner" ? "owner" : "others";
    const speaker = { channel: "telegram", senderId: "42", chatType: "dm", role, audience } as const;
    return {
      sessionKey: "telegram:42",
      folder: own,
      signal: options.signal ?? new AbortController().signal,
      // Nobody is there to be asked.
      permit: async (access) => {
        const decision = policy.mayUseTool({ tool, access, folder: own, speaker, outside: options.outside });
        if (decision.verdict === "ask") return `Nobody allowed to ${decision.what}: ${decision.because}.`;
        return decision.verdict === "allow" ? undefined : decision.sentence;
      },
      ask: options.ask ?? (async () => ({ outcome: "nobody", text: "" })),
      call: {
        turnId: "turn_1",
        toolCallId: options.toolCallId ?? "call_1",
        isSubAgent: options.isSubAgent ?? false,
      },
      permissions: {
        allows: (access) =>
          policy.mayUseTool({ tool, access, folder: own, speaker, outside: options.outside }).verdict === "allow",
        allowedByRule: () => false,
        allowedByPerson: () => false,
      },
      chat: {
        channel: "telegram",
        chatId: "42",
        senderId: "42",
        send: options.send ?? (async () => 1),
        artifact: options.artifact ?? (async () => ({ ok: false, sentence: "nobody keeps files here" })),
      },
      files: {
        workspace: at,
        whyFull: options.whyFull ?? (async () => undefined),
        outsideOf: async (file) => policy.outsideOf(file, own),
        wrote: options.wrote ?? (async () => undefined),
        ownUploads: async () => () => false,
      },
      commands: { hiddenFiles: async () => () => false, startRun: options.startRun ?? startCleanRun },
      conversation: {
        outside: () => options.outside ?? [],
        receivedHere: options.receivedHere ?? (() => true),
        knowsAddress: options.knowsAddress ?? (() => true),
      },
      agent: {
        tasks: options.tasks ?? noTasks,
        readSkill: options.readSkill ?? (async () => undefined),
        changePlan: () => ({ text: "There is no plan.", isError: true, summary: "no plan" }),
      },
    };
  };

  return {
    root,
    workspace,
    folder,
    context,
    file(name, content) {
      const full = path.join(root, name);
      mkdirSync(path.dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    run: (tool, input, options) => tool.run(tool.input.parse(input), context(tool, options)),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

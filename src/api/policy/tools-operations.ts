import path from "node:path";
import { RequestError } from "../../errors.js";
import type { ToolAccess, ToolDecision, ToolTraits, ToolUse } from "../../policy/access.js";
import { resolveReal } from "../../util/files/real-path.js";
import type { GatewayStatus } from "../gateway-status.js";
import type { PolicyTrial, PolicyTrialResult, ToolsApi, ToolView } from "./tools-api.js";

type KnownTool = ToolTraits & { readonly description: string };

export interface ToolsPorts {
  /** Those of the program and of extensions, as they are now. */
  readonly tools: () => readonly KnownTool[];
  /** A tool of an MCP server, by the name that the model uses. */
  readonly findForeign: (name: string) => KnownTool | undefined;
  readonly decide: (use: ToolUse) => ToolDecision;
  /** Why tools may not connect there, where the address itself says so. */
  readonly addressLimit: (url: URL) => string | undefined;
  readonly sandbox: () => GatewayStatus["sandbox"];
  readonly workspace: string;
  /** The own folder of a chat. */
  readonly folderOf: (sessionKey: string) => string;
}

/** What can be switched off by a setting of its own, with what is said about it while it is off. */
const switched = new Map([
  ["web_search", "Search the web."],
  ["web_fetch", "Read web pages."],
  ["browser", "Use a web browser."],
]);

/** A chat that nobody has. */
const chat = { owner: "webui:policy-test", guest: "telegram:policy-test" } as const;
const toolOf = { command: "exec", read: "read_file", write: "write_file", fetch: "web_fetch" } as const;

export function createToolsOperations(ports: ToolsPorts): ToolsApi {
  return {
    list() {
      const there = ports.tools().map((tool) => viewOf(tool, true));
      const off = [...switched]
        .filter(([name]) => !there.some((tool) => tool.name === name))
        .map(([name, description]) => viewOf({ name, description }, false));
      return [...there, ...off].sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    tryPolicy: (trial) => tryPolicy(ports, trial),
  };
}

function viewOf({ name, description }: Pick<KnownTool, "name" | "description">, isOn: boolean): ToolView {
  return { name, description, isOn, canSwitch: switched.has(name) };
}

async function tryPolicy(ports: ToolsPorts, trial: PolicyTrial): Promise<PolicyTrialResult> {
  const tool = toolFor(ports, trial);
  const { access, input, limit } = await accessOf(ports, trial);
  if (limit !== undefined) return { verdict: "deny", because: limit };
  const call: ToolAccess = { kind: "call", input };
  const base = { tool, folder: ports.folderOf(chat[trial.role]), chat: chat[trial.role], speaker: speakerOf(trial) };
  // As a real call does: the call as such first, and then each thing that it is about to do.
  const first = ports.decide({ ...base, access: call });
  const decision =
    first.verdict === "allow" && access !== undefined ? ports.decide({ ...base, access, earlier: [call] }) : first;
  const place = access?.kind === "command" ? { isSandboxed: access.isSandboxed } : {};
  switch (decision.verdict) {
    case "allow":
      return { verdict: "allow", isByRule: decision.by === "rule", ...place };
    case "deny":
      return { verdict: "deny", because: decision.sentence, ...place };
    case "ask": {
      const { what, because, approver } = decision;
      return { verdict: "ask", what, because, approver, ...place };
    }
    default:
      return decision satisfies never;
  }
}

function toolFor(ports: ToolsPorts, { kind, tool: asked = "" }: PolicyTrial): ToolTraits {
  const name = kind === "call" ? asked : toolOf[kind];
  const found = ports.tools().find((tool) => tool.name === name) ?? ports.findForeign(name);
  if (found !== undefined) return found;
  throw new RequestError(`The assistant has no tool ${name.slice(0, 100)} now.`, { status: 404, code: "not_found" });
}

function speakerOf({ role, chat: chatType }: PolicyTrial): ToolUse["speaker"] {
  const [channel, senderId] = role === "owner" ? ["webui", "owner"] : ["telegram", "policy-test"];
  const audience = role === "owner" && chatType === "dm" ? "owner" : "others";
  return { channel, senderId, chatType, role, audience };
}

interface Asked {
  /** Undefined: the call as such is all. */
  readonly access?: ToolAccess;
  readonly input: unknown;
  /** Why it is denied before policy is asked. */
  readonly limit?: string | undefined;
}

async function accessOf(ports: ToolsPorts, { kind, argument, hasNetwork = false }: PolicyTrial): Promise<Asked> {
  switch (kind) {
    case "command": {
      const sandbox = ports.sandbox();
      const isSandboxed = sandbox?.state === "ready";
      const isRefused = !isSandboxed && sandbox?.bare === "none";
      const limit = isRefused ? "Commands run in a sandbox or not at all, and there is none." : undefined;
      const input = { command: argument, ...(hasNetwork ? { network: true } : {}) };
      return { input, limit, access: { kind: "command", command: argument, isSandboxed, hasNetwork } };
    }
    case "read":
    case "write": {
      const found = await resolveReal(path.resolve(ports.workspace, argument));
      const input = { path: argument };
      if (!found.ok) return { input, limit: found.sentence };
      return { input, access: { kind, path: found.path } };
    }
    case "fetch": {
      const url = URL.canParse(argument) ? new URL(argument) : undefined;
      if (url === undefined || !/^https?:$/.test(url.protocol))
        throw wrong("An address begins with http:// or https://.");
      // As an address that the model wrote itself: those are looked at more closely.
      const access = { kind: "network", url: url.href, sends: true, isAddressOnly: true } as const;
      return { input: { url: argument }, limit: ports.addressLimit(url), access };
    }
    case "call":
      return { input: inputOf(argument) };
    default:
      return kind satisfies never;
  }
}

function inputOf(argument: string): unknown {
  if (argument.trim() === "") return {};
  try {
    return JSON.parse(argument);
  } catch {
    throw wrong('The input of a tool is JSON, such as {"name": "value"}.');
  }
}

function wrong(message: string): RequestError {
  return new RequestError(message, { status: 400, code: "bad_request" });
}

import { visible, visibleAddress } from "../util/text/visible.js";
import { askingSentence, deedSentence } from "../util/words/permission-sentences.js";
import { type ExecutionMode, isOpenCommand, type ToolAccess, type ToolUse, unknownAccess } from "./access.js";
import { reachOf } from "./commands/command-reach.js";
import { type CommandGround, harmOf } from "./commands/harmful-commands.js";
import {
  createLocationLimits,
  inPrivate,
  isPrivate,
  type LocationLimits,
  onlyOwners,
} from "./locations/location-limits.js";
import type { Zones } from "./locations/zones.js";

/** What is denied whatever rules say, and what is risky. */
export interface ToolLimits {
  /** One sentence for the model, or undefined where nothing is against it. */
  limitOf(use: ToolUse): string | undefined;
  /** Why it is asked before it is done, for a person; undefined for what is harmless. */
  riskOf(use: ToolUse): string | undefined;
  /** Why it is asked in mode `auto`, too; undefined for what a person has left to the assistant by that mode. */
  reachOf(use: ToolUse): string | undefined;
  /** Why it is asked in every mode and whatever rules allow: it destroys more than anybody wants to lose. */
  harmOf(use: ToolUse): string | undefined;
  /** True for writing what speaks to every later conversation: steering files, memory, skills. */
  steers(use: ToolUse): boolean;
  /** What it would do, for a person. */
  nameOf(use: ToolUse): string;
}

interface LimitOptions {
  readonly executionMode: ExecutionMode;
  readonly restrictToWorkspace: boolean;
  readonly workspace: string;
  readonly home?: string | undefined;
  readonly userHome: string;
}

export function createToolLimits(options: LimitOptions, zones: Zones): ToolLimits {
  const { executionMode, restrictToWorkspace } = options;
  const groundOf = ({ cwd }: { readonly cwd?: string | undefined }, folder: string): CommandGround => {
    const { workspace, home, userHome } = options;
    return { cwd: cwd ?? folder, workspace: zones.toReal(workspace), home, userHome };
  };
  const locations = createLocationLimits(restrictToWorkspace, zones);
  return {
    limitOf(use) {
      const { tool, access } = use;
      const isReading = tool.effect === "read" && access.kind !== "write" && !isSending(access);
      if (executionMode === "safe" && !isReading)
        return `${tool.name} is not allowed while agents.defaults.executionMode is "safe": it may change something.`;
      if (use.isPlanning === true && !isReading && tool.risk !== "none")
        return `${tool.name} waits for the person's go (/plan go): while a plan is being made, tools may only read.`;
      return limitOfAccess(use, locations);
    },
    riskOf: (use) => riskOf(use, locations),
    reachOf: ({ access, folder }) =>
      isBare(access)
        ? reachOf(access.command, groundOf(access, folder), { zones, folder, mayLeave: !restrictToWorkspace })
        : undefined,
    harmOf: ({ access, folder }) => (isBare(access) ? harmOf(access.command, groundOf(access, folder)) : undefined),
    steers: (use) => use.access.kind === "write" && locations.steers(use, use.access.path),
    nameOf: (use) => nameOf(use, zones),
  };
}

function limitOfAccess(use: ToolUse, locations: LocationLimits): string | undefined {
  const { tool, access, speaker } = use;
  switch (access.kind) {
    case "read":
      return locations.readLimit(use, access.path);
    case "write":
      return locations.writeLimit(use, access.path);
    case "chat":
      return access.isOwn || speaker.role === "owner"
        ? undefined
        : `${tool.name} may write to other chats for ${onlyOwners} only.`;
    case "command":
      return !isOpenCommand(access) || speaker.role === "owner"
        ? undefined
        : `${tool.name} may run commands ${wayOf(access)} for ${onlyOwners} only.`;
    case "memory":
      return access.of === "chat" || isPrivate(speaker) ? undefined : `That memory is the owner's: ${inPrivate}.`;
    case "call":
    case "network":
    case "schedule":
    case "other":
      return undefined;
    default:
      return unknownAccess(access);
  }
}

function riskOf(use: ToolUse, locations: LocationLimits): string | undefined {
  const { tool, access } = use;
  switch (access.kind) {
    case "read":
      return undefined;
    case "write":
      return locations.writeRisk(use, access.path);
    case "network":
      return isPosting(access) ? askingSentence("sends_out") : undefined;
    case "chat":
      return access.isOwn ? undefined : askingSentence("other_chat");
    case "command":
      return isOpenCommand(access) ? askingSentence(access.isSandboxed ? "open_network" : "no_walls_here") : undefined;
    case "memory":
    case "schedule":
      // It only ever brings this chat back to this chat, and runs with the rights of the one who asked for it.
      return undefined;
    case "call":
      return tool.risk === "call" && tool.effect !== "read" ? askingSentence("unknown_call") : undefined;
    case "other":
      return tool.effect === "read" ? undefined : askingSentence("may_change");
    default:
      return unknownAccess(access);
  }
}

const memoryDeeds = {
  owner: { read: "do_search_memory", write: "do_change_memory" },
  chat: { read: "do_search_chat_memory", write: "do_change_chat_memory" },
} as const;

function nameOf({ tool, access }: ToolUse, zones: Zones): string {
  switch (access.kind) {
    case "read":
      return deedSentence("do_read", { reason: visible(zones.nameOf(access.path)) });
    case "write":
      return deedSentence("do_write", { reason: visible(zones.nameOf(access.path)) });
    case "network":
      return deedSentence(isPosting(access) ? "do_send" : "do_fetch", { reason: visibleAddress(access.url) });
    case "chat":
      return deedSentence("do_message", { reason: visible(access.chat) });
    case "command":
      return deedSentence("do_run", { reason: visible(access.command) });
    case "memory":
      return deedSentence(memoryDeeds[access.of][access.access]);
    case "schedule":
      return deedSentence("do_job", { name: access.detail });
    case "call":
      return deedSentence("do_use", { reason: visible(tool.name) });
    case "other":
      return visible(access.detail);
    default:
      return unknownAccess(access);
  }
}

/** In a sandbox it sees and loses its own folder at most. */
function isBare(access: ToolAccess): access is Extract<ToolAccess, { kind: "command" }> {
  return access.kind === "command" && !access.isSandboxed;
}

function wayOf({ isSandboxed }: Extract<ToolAccess, { kind: "command" }>): string {
  return isSandboxed ? "with the network, this machine's own ports included" : "without a sandbox";
}

/** Not reading, even where the tool as such only reads. */
function isSending(access: ToolAccess): boolean {
  return (access.kind === "network" && isPosting(access)) || access.kind === "chat" || access.kind === "command";
}

function isPosting({ sends, isAddressOnly = false }: Extract<ToolAccess, { kind: "network" }>): boolean {
  return sends && !isAddressOnly;
}

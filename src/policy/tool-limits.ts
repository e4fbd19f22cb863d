import { visible, visibleAddress } from "../util/visible.js";
import { type ExecutionMode, isOpenCommand, type ToolAccess, type ToolUse, unknownAccess } from "./access.js";
import type { Zones } from "./zones.js";

/** What is denied whatever rules say, and what is risky. */
export interface ToolLimits {
  /** One sentence for the model, or undefined where nothing stands against it. */
  limitOf(use: ToolUse): string | undefined;
  /** Why it is asked before it is done, for a person; undefined for what is harmless. */
  riskOf(use: ToolUse): string | undefined;
  /** What it would do, for a person. */
  nameOf(use: ToolUse): string;
}

interface LimitOptions {
  readonly executionMode: ExecutionMode;
  readonly restrictToWorkspace: boolean;
}

export function createToolLimits(options: LimitOptions, zones: Zones): ToolLimits {
  const readLimit = (use: ToolUse, target: string): string | undefined => {
    const zone = zones.zoneOf(target, use.folder);
    switch (zone) {
      case "own":
      case "kept":
      case "workspace":
      case "steering":
        return undefined;
      case "hidden":
        return hiddenPlace(zones.nameOf(target));
      case "private":
        return "The gateway's own files are not shown to tools.";
      case "outside":
        return leaveLimit(use, "read");
      default:
        return zone satisfies never;
    }
  };

  const writeLimit = (use: ToolUse, target: string): string | undefined => {
    const zone = zones.zoneOf(target, use.folder);
    switch (zone) {
      case "own":
      case "workspace":
        return undefined;
      case "steering":
        return use.speaker.role === "owner"
          ? undefined
          : `${zones.nameOf(target)} steers the assistant: ${onlyOwners} may change it.`;
      case "kept":
        return `${zones.nameOf(target)} is kept by the gateway and cannot be changed; write a copy of it.`;
      case "hidden":
        return hiddenPlace(zones.nameOf(target));
      case "private":
        return "The gateway's own files cannot be changed by tools.";
      case "outside":
        return leaveLimit(use, "write");
      default:
        return zone satisfies never;
    }
  };

  const leaveLimit = ({ tool, speaker }: ToolUse, verb: "read" | "write"): string | undefined => {
    if (options.restrictToWorkspace)
      return `${tool.name} may not ${verb} outside of the workspace (setting tools.restrictToWorkspace).`;
    if (speaker.role === "owner") return undefined;
    return `${tool.name} may ${verb} outside of the workspace for ${onlyOwners} only.`;
  };

  /** What an owner tells in private is not for guests, nor for a group that reads along. */
  const memoryLimit = ({ tool, speaker }: ToolUse, access: "read" | "write"): string | undefined => {
    if (speaker.role !== "owner") return `${tool.name} uses the memory for ${onlyOwners} only.`;
    return access === "read" && speaker.chatType === "group"
      ? "In a group only what was said in it can be searched."
      : undefined;
  };

  const writeRisk = ({ folder }: ToolUse, target: string): string | undefined => {
    const zone = zones.zoneOf(target, folder);
    if (zone === "own") return undefined;
    if (zone === "steering") return "that steers the assistant";
    return zone === "outside" ? "that is outside of the workspace" : "that is outside of this chat's own folder";
  };

  return {
    limitOf(use) {
      const { tool, access, speaker } = use;
      const isReading = tool.effect === "read" && access.kind !== "write" && !isSending(access);
      if (options.executionMode === "safe" && !isReading)
        return `${tool.name} is not allowed while agents.defaults.executionMode is "safe": it may change something.`;
      if (use.isPlanning === true && !isReading && tool.risk !== "none")
        return `${tool.name} waits for the person's go (/plan go): while a plan is being made, tools may only read.`;
      switch (access.kind) {
        case "read":
          return readLimit(use, access.path);
        case "write":
          return writeLimit(use, access.path);
        case "chat":
          return access.isOwn || speaker.role === "owner"
            ? undefined
            : `${tool.name} may write to other chats for ${onlyOwners} only.`;
        case "command":
          return !isOpenCommand(access) || speaker.role === "owner"
            ? undefined
            : `${tool.name} may run commands ${wayOf(access)} for ${onlyOwners} only.`;
        case "memory":
          return memoryLimit(use, access.access);
        case "call":
        case "network":
        case "schedule":
        case "other":
          return undefined;
        default:
          return unknownAccess(access);
      }
    },

    riskOf(use) {
      const { tool, access } = use;
      switch (access.kind) {
        case "read":
          return undefined;
        case "write":
          return writeRisk(use, access.path);
        case "network":
          return isPosting(access) ? "that sends something out" : undefined;
        case "chat":
          return access.isOwn ? undefined : "that is another chat";
        case "command":
          return isOpenCommand(access) ? `that runs ${wayOf(access)}` : undefined;
        case "memory":
        case "schedule":
          // It only ever brings this chat back to this chat, and runs with the rights of whoever asked for it.
          return undefined;
        case "call":
          return tool.risk === "call" && tool.effect !== "read" ? "nobody knows what it may change" : undefined;
        case "other":
          return tool.effect === "read" ? undefined : "it may change something";
        default:
          return unknownAccess(access);
      }
    },

    nameOf({ tool, access }) {
      switch (access.kind) {
        case "read":
          return `read ${visible(zones.nameOf(access.path))}`;
        case "write":
          return `write ${visible(zones.nameOf(access.path))}`;
        case "network":
          return `${isPosting(access) ? "send to" : "fetch"} ${visibleAddress(access.url)}`;
        case "chat":
          return `write to ${visible(access.chat)}`;
        case "command":
          return `run ${visible(access.command)}`;
        case "memory":
          return access.access === "read" ? "search the memory" : "change the memory";
        case "schedule":
          return `${access.detail} a scheduled job`;
        case "call":
          return `use ${visible(tool.name)}`;
        case "other":
          return visible(access.detail);
        default:
          return unknownAccess(access);
      }
    },
  };
}

function wayOf({ isSandboxed }: Extract<ToolAccess, { kind: "command" }>): string {
  return isSandboxed ? "with the network, this machine's own ports included" : "without a sandbox";
}

const onlyOwners = 'an owner (setting "owners")';

function hiddenPlace(name: string): string {
  return `${name} is not for this chat: only its own folder is, of all names that begin with a dot.`;
}

/** Not reading, even where the tool as such only reads. */
function isSending(access: ToolAccess): boolean {
  return (access.kind === "network" && isPosting(access)) || access.kind === "chat" || access.kind === "command";
}

function isPosting({ sends, isAddressOnly = false }: Extract<ToolAccess, { kind: "network" }>): boolean {
  return sends && !isAddressOnly;
}

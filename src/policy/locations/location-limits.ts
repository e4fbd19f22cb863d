import { askingSentence } from "../../util/words/permission-sentences.js";
import type { ToolUse } from "../access.js";
import type { Zone, Zones } from "./zones.js";

/** What is denied at a location whatever rules say, and what is risky to write. */
export interface LocationLimits {
  readLimit(use: ToolUse, target: string): string | undefined;
  writeLimit(use: ToolUse, target: string): string | undefined;
  writeRisk(use: ToolUse, target: string): string | undefined;
  /** What is written there speaks to every later conversation. */
  steers(use: ToolUse, target: string): boolean;
}

/** How sentences name who may. */
export const onlyOwners = 'an owner (setting "owners")';
/** The end of a sentence about what is an owner's alone. */
export const inPrivate = `only ${onlyOwners} may use it, and only where nobody else reads along`;

const steeringZones: ReadonlySet<Zone> = new Set<Zone>(["skills", "steering", "memory"]);

/** What an owner tells in private is not for guests, nor for any chat in which others read along. */
export function isPrivate({ role, audience }: ToolUse["speaker"]): boolean {
  return role === "owner" && audience === "owner";
}

export function createLocationLimits(restrictToWorkspace: boolean, zones: Zones): LocationLimits {
  const leaveLimit = ({ tool, speaker }: ToolUse, verb: "read" | "write"): string | undefined => {
    if (restrictToWorkspace)
      return `${tool.name} may not ${verb} outside of the workspace (setting tools.restrictToWorkspace).`;
    if (speaker.role === "owner") return undefined;
    return `${tool.name} may ${verb} outside of the workspace for ${onlyOwners} only.`;
  };
  const ownersLimit = ({ speaker }: ToolUse, target: string): string | undefined =>
    isPrivate(speaker) ? undefined : `${zones.nameOf(target)} is the owner's: ${inPrivate}.`;

  return {
    readLimit(use, target) {
      const zone = zones.zoneOf(target, use.folder);
      switch (zone) {
        case "own":
        case "kept":
        case "workspace":
        case "skills":
          return undefined;
        case "steering":
        case "memory":
          return ownersLimit(use, target);
        case "hidden":
          return hiddenSentence(zones.nameOf(target));
        case "private":
          return "The gateway's own files are not shown to tools.";
        case "outside":
          return leaveLimit(use, "read");
        default:
          return zone satisfies never;
      }
    },

    writeLimit(use, target) {
      const zone = zones.zoneOf(target, use.folder);
      switch (zone) {
        case "own":
        case "workspace":
          return undefined;
        case "skills":
          return use.speaker.role === "owner"
            ? undefined
            : `${zones.nameOf(target)} steers the assistant: ${onlyOwners} may change it.`;
        case "steering":
        case "memory":
          return ownersLimit(use, target);
        case "kept":
          return `${zones.nameOf(target)} is kept by the gateway and cannot be changed; write a copy of it.`;
        case "hidden":
          return hiddenSentence(zones.nameOf(target));
        case "private":
          return "The gateway's own files cannot be changed by tools.";
        case "outside":
          return leaveLimit(use, "write");
        default:
          return zone satisfies never;
      }
    },

    writeRisk: ({ folder }, target) => riskIn(zones.zoneOf(target, folder)),
    steers: ({ folder }, target) => steeringZones.has(zones.zoneOf(target, folder)),
  };
}

function riskIn(zone: Zone): string | undefined {
  switch (zone) {
    case "own":
      return undefined;
    case "skills":
    case "steering":
      return askingSentence("steers");
    case "memory":
      return askingSentence("speaks_later");
    case "outside":
      return askingSentence("outside_workspace");
    case "kept":
    case "private":
    case "hidden":
    case "workspace":
      return askingSentence("outside_folder");
    default:
      return zone satisfies never;
  }
}

function hiddenSentence(name: string): string {
  return `${name} is not for this chat: only its own folder is, of all names that begin with a dot.`;
}

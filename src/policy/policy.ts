import { createZones } from "./zones.js";

export type ExecutionMode = "safe" | "ask" | "auto";

export interface PolicyOptions {
  readonly executionMode: ExecutionMode;
  readonly workspace: string;
  /** Holds config, secrets and journal, which no tool may touch. */
  readonly home?: string | undefined;
  readonly restrictToWorkspace: boolean;
  /** `channel:senderId`. */
  readonly owners: readonly string[];
  readonly channels: Readonly<Record<string, { readonly allowFrom: readonly string[] }>>;
}

/** Whose message it is, by what the platform vouches for. */
export interface Speaker {
  readonly channel: string;
  readonly senderId: string;
  readonly chatType: "dm" | "group";
  /** In a group: the bot was mentioned or replied to. */
  readonly addressed: boolean;
}

export type Role = "owner" | "guest";

export type SpeechDecision =
  | { readonly allowed: true; readonly role: Role }
  | { readonly allowed: false; readonly reason: "not_addressed" | "needs_pairing" | "not_allowed" };

/** One thing that a tool call is about to do. Paths are absolute and resolved. */
export interface ToolUse {
  readonly toolName: string;
  readonly effect: "read" | "idempotent" | "write";
  readonly access:
    | { readonly kind: "read"; readonly path: string }
    | { readonly kind: "write"; readonly path: string }
    | { readonly kind: "memory"; readonly access: "read" | "write" }
    | { readonly kind: "schedule"; readonly detail: string }
    | { readonly kind: "other"; readonly detail: string };
  /** The session's own folder, `<workspace>/.sessions/<name>`. */
  readonly folder: string;
  readonly role: Role;
  /** Others read along in this chat. */
  readonly isGroup?: boolean | undefined;
  /** Single files that this session may read although they lie in a hidden place: what it was sent. */
  readonly readable?: readonly string[] | undefined;
}

export type ToolDecision = { readonly allowed: true } | { readonly allowed: false; readonly sentence: string };

/** The one place that decides who may talk and what a tool may do. */
export interface Policy {
  /**
   * Owners may always talk. An empty list means pairing in direct messages and silence in groups; a list with entries
   * is the whole list; `*` is anyone. Pairing never counts in groups.
   */
  maySpeak(speaker: Speaker, isPaired: (channel: string, senderId: string) => boolean): SpeechDecision;
  mayUseTool(use: ToolUse): ToolDecision;
  /** What in the configuration can never match, as sentences for people. */
  readonly problems: readonly string[];
}

const ownerChannels: ReadonlySet<string> = new Set(["webui", "cli"]);
const yes: ToolDecision = { allowed: true };

export function createPolicy(options: PolicyOptions): Policy {
  const zones = createZones(options);
  const { executionMode } = options;

  const maySpeak: Policy["maySpeak"] = (speaker, isPaired) => {
    if (ownerChannels.has(speaker.channel)) return { allowed: true, role: "owner" };
    if (speaker.chatType === "group" && !speaker.addressed) return { allowed: false, reason: "not_addressed" };
    if (!isStableId(speaker.senderId)) return { allowed: false, reason: "not_allowed" };
    if (options.owners.includes(`${speaker.channel}:${speaker.senderId}`)) return { allowed: true, role: "owner" };
    const allowFrom = Object.hasOwn(options.channels, speaker.channel)
      ? (options.channels[speaker.channel]?.allowFrom ?? [])
      : [];
    if (allowFrom.includes("*") || allowFrom.includes(speaker.senderId)) return { allowed: true, role: "guest" };
    if (allowFrom.length > 0 || speaker.chatType === "group") return { allowed: false, reason: "not_allowed" };
    if (isPaired(speaker.channel, speaker.senderId)) return { allowed: true, role: "guest" };
    return { allowed: false, reason: "needs_pairing" };
  };

  const mayRead = (use: ToolUse, target: string): ToolDecision => {
    const zone = zones.zoneOf(target, use.folder);
    switch (zone) {
      case "own":
      case "workspace":
      case "steering":
        return yes;
      case "hidden":
        if (use.readable?.some((file) => zones.toReal(file) === target)) return yes;
        return no(
          `${zones.nameOf(target)} is not for this chat: only its own folder is, of all names that begin with a dot.`,
        );
      case "private":
        return no("The gateway's own files are not shown to tools.");
      case "outside":
        return mayLeave(use, "read");
      default:
        return unreachable(zone);
    }
  };

  const mayWrite = (use: ToolUse, target: string): ToolDecision => {
    const zone = zones.zoneOf(target, use.folder);
    const name = zones.nameOf(target);
    switch (zone) {
      case "own":
        return yes;
      case "workspace":
        return risky(`Writing ${name}, outside of this chat's own folder,`);
      case "steering":
        if (use.role !== "owner")
          return no(`${name} steers the assistant: only an owner (setting "owners") may change it.`);
        return risky(`Writing ${name}, which steers the assistant,`);
      case "hidden":
        return no(`${name} is not for this chat: only its own folder is, of all names that begin with a dot.`);
      case "private":
        return no("The gateway's own files cannot be changed by tools.");
      case "outside": {
        const leave = mayLeave(use, "write");
        return leave.allowed ? risky(`Writing ${name}, outside of the workspace,`) : leave;
      }
      default:
        return unreachable(zone);
    }
  };

  /** What an owner tells in private is not for guests, nor for a group that reads along. */
  const mayRemember = (use: ToolUse, access: "read" | "write"): ToolDecision => {
    if (use.role !== "owner") return no(`Only an owner (setting "owners") may have ${use.toolName} use the memory.`);
    return access === "read" && use.isGroup === true ? no("In a group only what was said in it can be searched.") : yes;
  };

  const mayLeave = (use: ToolUse, verb: "read" | "write"): ToolDecision => {
    if (options.restrictToWorkspace) {
      return no(`${use.toolName} may not ${verb} outside of the workspace (setting tools.restrictToWorkspace).`);
    }
    return use.role === "owner"
      ? yes
      : no(`Only an owner (setting "owners") may have ${use.toolName} ${verb} outside of the workspace.`);
  };

  const risky = (what: string): ToolDecision =>
    executionMode === "auto" ? yes : no(`${what} is only allowed when agents.defaults.executionMode is "auto".`);

  return {
    maySpeak,
    mayUseTool(use) {
      const { access } = use;
      const isReading = use.effect === "read" && access.kind !== "write";
      if (executionMode === "safe" && !isReading) {
        return no(
          `${use.toolName} is not allowed while agents.defaults.executionMode is "safe": it may change something.`,
        );
      }
      switch (access.kind) {
        case "read":
          return mayRead(use, access.path);
        case "write":
          return mayWrite(use, access.path);
        case "memory":
          return mayRemember(use, access.access);
        case "schedule":
          // It only ever brings this chat back to this chat, and runs with the rights of whoever asked for it.
          return yes;
        case "other":
          return isReading ? yes : risky(`${use.toolName} (${access.detail})`);
        default:
          return unreachable(access);
      }
    },
    problems: problemsOf(options),
  };
}

/** `@name` can be given up by one person and taken by another, so it identifies nobody. `@name:server` is a Matrix id. */
function isStableId(id: string): boolean {
  return id !== "" && id !== "*" && !isChangeableName(id);
}

function isChangeableName(id: string): boolean {
  return id.startsWith("@") && !id.includes(":");
}

function problemsOf(options: PolicyOptions): readonly string[] {
  const lists = Object.entries(options.channels).flatMap(([channel, { allowFrom }]) =>
    allowFrom
      .filter(isChangeableName)
      .map(
        (id) => `channels.${channel}.allowFrom: ${id} is a name that can change hands; use the sender's id instead.`,
      ),
  );
  const owners = options.owners
    .filter((owner) => !/^[a-z0-9-]+:./.test(owner) || !isStableId(owner.slice(owner.indexOf(":") + 1)))
    .map((owner) => `owners: ${owner} never matches; write channel:id, e.g. telegram:42.`);
  return [...lists, ...owners];
}

function no(sentence: string): ToolDecision {
  return { allowed: false, sentence };
}

function unreachable(value: never): never {
  throw new Error(`No rule for ${JSON.stringify(value satisfies never)}`);
}

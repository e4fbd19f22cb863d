import { homedir } from "node:os";
import { namesOf } from "../util/text/untrusted.js";
import { visible } from "../util/text/visible.js";
import { askingSentence } from "../util/words/permission-sentences.js";
import { statusSentence } from "../util/words/status-sentences.js";
import { type ExecutionMode, isCallOfParts, isOutward, type Role, type ToolDecision, type ToolUse } from "./access.js";
import { approverOf } from "./approvers.js";
import { ownerChannels } from "./audience.js";
import { type CommandUse, commandLimit } from "./commands/commands.js";
import { type Grants, scopeOf } from "./grants.js";
import { createZones } from "./locations/zones.js";
import { createRules, type PolicyRule, problemsOfRules } from "./rules.js";
import { createToolLimits } from "./tool-limits.js";

export interface PolicyOptions {
  readonly executionMode: ExecutionMode;
  readonly workspace: string;
  /** Holds config, secrets and journal, which no tool may touch. */
  readonly home?: string | undefined;
  readonly restrictToWorkspace: boolean;
  /** Of the user whose gateway it is. Default: what the system says. */
  readonly userHome?: string | undefined;
  /** `channel:senderId`. */
  readonly owners: readonly string[];
  readonly channels: Readonly<
    Record<string, { readonly allowFrom: readonly string[]; readonly allowGroups?: readonly string[] | undefined }>
  >;
  /** The last one that matches decides, within what no rule can change. */
  readonly rules?: readonly PolicyRule[] | undefined;
  /** What was allowed for always. */
  readonly grants?: Pick<Grants, "covers"> | undefined;
}

/** Whose message it is, by what the platform vouches for. */
export interface Speaker {
  readonly channel: string;
  readonly chatId?: string | undefined;
  readonly senderId: string;
  readonly chatType: "dm" | "group";
  /** In a group: the bot was mentioned or replied to. */
  readonly addressed: boolean;
}

export type SpeechDecision =
  | { readonly allowed: true; readonly role: Role }
  | { readonly allowed: false; readonly reason: "not_addressed" | "needs_pairing" | "not_allowed" };

/** The one place that decides who may talk and what a tool may do. */
export interface Policy {
  /**
   * Owners may always talk. An empty list means pairing in direct messages and silence in groups; a list with entries
   * is the whole list; `*` is anyone. Pairing never counts in groups. A list of groups keeps the assistant out of all
   * others; anyone who addresses it in one of them may talk, unless a list of senders says who.
   */
  maySpeak(speaker: Speaker, isPaired: (channel: string, senderId: string) => boolean): SpeechDecision;
  /** Of sender, chat, tool, path and address. The same use is decided the same way, whatever route it came by. */
  mayUseTool(use: ToolUse): ToolDecision;
  /** Of a chat command: one sentence for the person, or undefined where they may. */
  mayCommand(use: CommandUse): string | undefined;
  /** Where the content of a file came from when others wrote it: files that were sent, results kept from outside. */
  outsideOf(path: string, folder: string): string | undefined;
  /** What in the configuration can never match, as sentences for people. */
  readonly problems: readonly string[];
}

const yes: ToolDecision = { verdict: "allow" };

export function createPolicy(options: PolicyOptions): Policy {
  const owners = new Set(options.owners.filter(isPerson));
  const zones = createZones(options);
  const { executionMode, grants, rules = [] } = options;
  const ruleFor = createRules(rules, zones);
  const limits = createToolLimits({ ...options, userHome: options.userHome ?? homedir() }, zones);

  const maySpeak: Policy["maySpeak"] = (speaker, isPaired) => {
    if (ownerChannels.has(speaker.channel)) return { allowed: true, role: "owner" };
    if (speaker.chatType === "group" && !speaker.addressed) return { allowed: false, reason: "not_addressed" };
    if (!isStableId(speaker.senderId)) return { allowed: false, reason: "not_allowed" };
    if (owners.has(`${speaker.channel}:${speaker.senderId}`)) return { allowed: true, role: "owner" };
    const lists = Object.hasOwn(options.channels, speaker.channel) ? options.channels[speaker.channel] : undefined;
    const { allowFrom = [], allowGroups = [] } = lists ?? {};
    if (speaker.chatType === "group" && allowGroups.length > 0) {
      if (!allowGroups.includes(speaker.chatId ?? "")) return { allowed: false, reason: "not_allowed" };
      if (allowFrom.length === 0) return { allowed: true, role: "guest" };
    }
    if (allowFrom.includes("*") || allowFrom.includes(speaker.senderId)) return { allowed: true, role: "guest" };
    if (allowFrom.length > 0 || speaker.chatType === "group") return { allowed: false, reason: "not_allowed" };
    if (isPaired(speaker.channel, speaker.senderId)) return { allowed: true, role: "guest" };
    return { allowed: false, reason: "needs_pairing" };
  };

  const mayUseTool: Policy["mayUseTool"] = (use) => {
    const limit = limits.limitOf(use);
    if (limit !== undefined) return { verdict: "deny", sentence: limit };
    const rule = ruleFor(use);
    if (rule?.verdict === "deny") return { verdict: "deny", sentence: denial(use, limits.nameOf(use), rule.name) };
    // Such a tool names what it does one by one; asking about the call as well would ask twice.
    if (isCallOfParts(use) && rule?.verdict !== "ask") return yes;
    const steers = limits.steers(use);
    const others = steers || isOutward(use.tool, use.access) ? othersIn(use) : undefined;
    const harm = limits.harmOf(use);
    // Rules were written before anybody knew what would speak in this conversation.
    if (rule?.verdict === "allow" && harm === undefined && !(steers && others !== undefined))
      return { verdict: "allow", by: "rule" };
    const approver = approverOf(use, rule?.verdict === "ask");
    const ask = (because: string, canGrant: boolean): ToolDecision => {
      return { verdict: "ask", what: limits.nameOf(use), because: visible(because), canGrant, approver };
    };
    if (rule?.verdict === "ask") return ask(askingSentence("by_rule", { rule: rule.name }), false);
    if (harm !== undefined) return ask(harm, false);
    if (others !== undefined) return ask(others, false);
    const risk = executionMode === "auto" ? limits.reachOf(use) : limits.riskOf(use);
    if (risk === undefined) return yes;
    // Owners alone can say so, and only for what can be told again.
    const canGrant = use.speaker.role === "owner" && !steers && scopeOf(use) !== undefined;
    return canGrant && grants?.covers(use) === true ? { verdict: "allow", by: "grant" } : ask(risk, canGrant);
  };

  return {
    maySpeak,
    mayUseTool,
    mayCommand: commandLimit,
    outsideOf: zones.outsideOf,
    problems: problemsOfPolicy(options),
  };
}

/** Names what was compared, so that its reader can find why the rule matched. */
function denial({ tool, access }: ToolUse, what: string, rule: string): string {
  const act = access.kind === "call" ? "be used this way" : what;
  return `${tool.name} may not ${act}: ${rule} denies it.`;
}

/** Why what is in the context may speak with another voice than the sender's, if it may. */
function othersIn({ outside = [], speaker, access }: ToolUse): string | undefined {
  const isGroup = speaker.chatType === "group";
  // It comes back to this chat alone.
  const staysHere = access.kind === "memory" && access.of === "chat";
  if (isGroup && staysHere) return undefined;
  if (outside.length > 0) {
    const isOfFiles = outside.some((source) => source.startsWith("the file "));
    return askingSentence(isOfFiles ? "others_files" : "others_text", { reason: namesOf(outside) });
  }
  const isAmongOthers = isGroup || (speaker.role === "owner" && speaker.audience === "others");
  return isAmongOthers && !staysHere ? askingSentence("others_here") : undefined;
}

/** `channel:id` of one person. The id of a group begins with a minus; anyone who writes there as the group is not one person. */
function isPerson(owner: string): boolean {
  return /^[a-z0-9-]+:[^-]/.test(owner) && isStableId(owner.slice(owner.indexOf(":") + 1));
}

/** `@name` can be given up by one person and taken by another, so it identifies nobody. `@name:server` is a Matrix id. */
function isStableId(id: string): boolean {
  return id !== "" && id !== "*" && !isChangeableName(id);
}

function isChangeableName(id: string): boolean {
  return id.startsWith("@") && !id.includes(":");
}

/** What in the configuration can never match, as sentences for people. */
export function problemsOfPolicy(options: Pick<PolicyOptions, "channels" | "owners" | "rules">): readonly string[] {
  const lists = Object.entries(options.channels).flatMap(([channel, { allowFrom }]) =>
    allowFrom.filter(isChangeableName).map((id) => statusSentence("changeable_name", { name: channel, id })),
  );
  const owners = options.owners
    .filter((owner) => !isPerson(owner))
    .map((owner) => statusSentence("no_person", { owner }));
  return [...lists, ...owners, ...problemsOfRules(options.rules ?? [])];
}

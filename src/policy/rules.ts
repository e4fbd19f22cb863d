import { globOf, matchesGlob } from "../util/glob.js";
import type { ToolAccess, ToolUse } from "./access.js";
import { allowedCommand } from "./allowed-command.js";
import { exactNames, matchesWidely, type PlaceNames } from "./rule-names.js";

/** One entry of `policy.rules`. What is absent matches everything; `*` stands for any text, `?` for one character. */
export interface PolicyRule {
  readonly tool?: string | undefined;
  /** A path (absolute, or relative to the workspace), an address, a chat, a command, or the input as JSON. */
  readonly argument?: string | undefined;
  readonly channel?: string | undefined;
  /** `channel:sender`, e.g. `telegram:42`. */
  readonly sender?: string | undefined;
  readonly role?: "owner" | "guest" | undefined;
  readonly chat?: "dm" | "group" | undefined;
  readonly verdict: "allow" | "ask" | "deny";
}

export interface RuleMatch {
  readonly verdict: PolicyRule["verdict"];
  /** How sentences name it, e.g. `policy.rules[2]`. */
  readonly name: string;
}

/** Finds the last rule that matches. */
export function createRules(rules: readonly PolicyRule[], places: PlaceNames): (use: ToolUse) => RuleMatch | undefined {
  const compiled = rules.map((rule, index) => ({ ...compile(rule, places), index })).reverse();
  return (use) => {
    // What a tool does after such a call is decided on one by one: a later rule may allow some of it.
    const isFrame = use.access.kind === "call" && use.tool.risk === "access";
    let opensSome = false;
    for (const rule of compiled) {
      if (!rule.isFor(use)) continue;
      if (rule.fits(use.access)) {
        if (isFrame && opensSome && rule.isForAll) return undefined;
        return { verdict: rule.verdict, name: `policy.rules[${rule.index}]` };
      }
      if (rule.verdict !== "deny") opensSome = true;
    }
    return undefined;
  };
}

/** Rules that can never allow what they are written for, as sentences for people. */
export function problemsOfRules(rules: readonly PolicyRule[]): readonly string[] {
  return rules.flatMap(({ tool, argument, verdict }, index) => {
    if (tool !== "exec" || argument === undefined || verdict !== "allow") return [];
    const { problem } = allowedCommand(argument);
    return problem === undefined ? [] : [`policy.rules[${index}] allows no command: ${problem}.`];
  });
}

interface CompiledRule {
  readonly verdict: PolicyRule["verdict"];
  /** Whatever the argument. */
  readonly isForAll: boolean;
  /** Of the tool and the person. */
  readonly isFor: (use: ToolUse) => boolean;
  readonly fits: (access: ToolAccess) => boolean;
}

function compile(rule: PolicyRule, places: PlaceNames): CompiledRule {
  const tool = globOf(rule.tool ?? "*");
  const channel = globOf(rule.channel ?? "*");
  const sender = globOf(rule.sender ?? "*");
  return {
    verdict: rule.verdict,
    isForAll: rule.argument === undefined || /^\*+$/.test(rule.argument),
    isFor: ({ tool: { name }, speaker }) =>
      matchesGlob(tool, name) &&
      matchesGlob(channel, speaker.channel) &&
      matchesGlob(sender, `${speaker.channel}:${speaker.senderId}`) &&
      (rule.role === undefined || rule.role === speaker.role) &&
      (rule.chat === undefined || rule.chat === speaker.chatType),
    fits: rule.argument === undefined ? () => true : argumentMatcher(rule.argument, rule.verdict, places),
  };
}

/** What is allowed is allowed as it is written; what is denied or asked about is so in whatever way it is written. */
function argumentMatcher(
  argument: string,
  verdict: PolicyRule["verdict"],
  places: PlaceNames,
): (access: ToolAccess) => boolean {
  if (verdict !== "allow") return (access) => matchesWidely(argument, access, places);
  const glob = globOf(argument);
  const command = allowedCommand(argument);
  return (access) =>
    access.kind === "command"
      ? command.matches(access.command)
      : exactNames(access, places).some((name) => matchesGlob(glob, name));
}

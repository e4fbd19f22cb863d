import { globOf, matchesGlob } from "../util/files/glob.js";
import { statusSentence } from "../util/words/status-sentences.js";
import { isCallOfParts, type ToolAccess, type ToolUse } from "./access.js";
import { allowedCommand } from "./commands/allowed-command.js";
import { exactNames, type LocationNames, matchesWidely } from "./rule-names.js";

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
export function createRules(
  rules: readonly PolicyRule[],
  locations: LocationNames,
): (use: ToolUse) => RuleMatch | undefined {
  const compiled = rules.map((rule, index) => compile(rule, index, locations)).reverse();
  const finder = new RuleFinder(compiled);
  return (use) => {
    const rule = finder.find(use);
    return rule === undefined ? undefined : { verdict: rule.verdict, name: `policy.rules[${rule.index}]` };
  };
}

class RuleFinder {
  /** The last one first. */
  readonly #rules: readonly CompiledRule[];
  /** Of what has parts: which rule has let it through. */
  readonly #openers = new WeakMap<ToolAccess, number>();

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules;
  }

  find(use: ToolUse): CompiledRule | undefined {
    const rules = this.#rules.filter((rule) => rule.isFor(use));
    return isCallOfParts(use) ? ofCall(use, rules) : this.#ofPart(use, rules);
  }

  #ofPart(use: ToolUse, rules: readonly CompiledRule[]): CompiledRule | undefined {
    const { access } = use;
    for (const [at, rule] of rules.entries()) {
      if (!rule.fits(access) && !isOfInput(rule, use)) continue;
      if (rule.verdict !== "allow" && (rule.isForAll || !rule.fits(access)) && this.#isOfOpened(rule, use)) continue;
      return rule.verdict === "deny" || rule.isForAll ? rule : (denialOfInput(use, rules.slice(at + 1)) ?? rule);
    }
    return undefined;
  }

  /** Whether this belongs to what a later rule has let through: a broad one says nothing about such a part by itself. */
  #isOfOpened(rule: CompiledRule, use: ToolUse): boolean {
    return (use.earlier ?? []).some((whole) => {
      if (!isPartOf(use.access, whole)) return false;
      const opener = this.#openers.get(whole) ?? this.find({ ...use, access: whole })?.index ?? -1;
      this.#openers.set(whole, opener);
      return whole.kind === "command" ? opener >= rule.index : opener > rule.index;
    });
  }
}

/** Of a call whose parts are decided on one by one, as the tool comes to them: what a later rule may let through is left to that. */
function ofCall({ access, tool }: ToolUse, rules: readonly CompiledRule[]): CompiledRule | undefined {
  const at = rules.findIndex((rule) => rule.fits(access));
  const rule = rules[at];
  const isLeft = rules.slice(0, Math.max(at, 0)).some(({ verdict }) => verdict !== "deny");
  if (rule?.verdict === "deny" && !(isLeft && rule.mayMeanPart(access))) return rule;
  if (access.kind !== "call" || tool.asksNothing === "all" || tool.asksNothing?.(access.input) !== true)
    return undefined;
  // No part of it will ever be asked about: what is said about its very input holds.
  return rules.find((one) => one.fits(access) && (one.verdict === "allow" || !one.isForAll));
}

/** What is said about some input of a call is said about all that the call does. */
function isOfInput(rule: CompiledRule, { earlier = [], access }: ToolUse): boolean {
  return rule.verdict !== "allow" && !rule.fits(access) && earlier.some((one) => one.kind === "call" && rule.fits(one));
}

/** A rule for a path or a command says nothing about the rest of the input; one for everything does. */
function denialOfInput(use: ToolUse, rules: readonly CompiledRule[]): CompiledRule | undefined {
  const end = rules.findIndex(({ isForAll, verdict }) => isForAll && verdict !== "deny");
  const until = end === -1 ? rules : rules.slice(0, end);
  return until.find((rule) => rule.verdict === "deny" && isOfInput(rule, use));
}

/** What a command reads belongs to the command, and handing over a file to having read it. */
function isPartOf(access: ToolAccess, whole: ToolAccess): boolean {
  if (whole.kind === "command") return access.kind === "read";
  return whole.kind === "read" && access.kind === "chat" && access.isOwn;
}

/** Rules that can never allow what they are written for, as sentences for people. */
export function problemsOfRules(rules: readonly PolicyRule[]): readonly string[] {
  return rules.flatMap(({ tool, argument, verdict }, index) => {
    if (tool !== "exec" || argument === undefined || verdict !== "allow") return [];
    const { problem } = allowedCommand(argument);
    return problem === undefined ? [] : [statusSentence("rule_in_vain", { n: index, reason: problem })];
  });
}

interface CompiledRule {
  readonly index: number;
  readonly verdict: PolicyRule["verdict"];
  /** Whatever the argument. */
  readonly isForAll: boolean;
  /** Of the tool and the person. */
  readonly isFor: (use: ToolUse) => boolean;
  readonly fits: (access: ToolAccess) => boolean;
  /** Whether it meets such a call by something that the call names, not only by the names of its fields. */
  readonly mayMeanPart: (access: ToolAccess) => boolean;
}

function compile(rule: PolicyRule, index: number, locations: LocationNames): CompiledRule {
  const tool = globOf(rule.tool ?? "*");
  const channel = globOf(rule.channel ?? "*");
  const sender = globOf(rule.sender ?? "*");
  const fits = rule.argument === undefined ? () => true : argumentMatcher(rule.argument, rule.verdict, locations);
  const isForAll = rule.argument === undefined || /^\*+$/.test(rule.argument);
  return {
    index,
    verdict: rule.verdict,
    isForAll,
    isFor: ({ tool: { name }, speaker }) =>
      matchesGlob(tool, name) &&
      matchesGlob(channel, speaker.channel) &&
      matchesGlob(sender, `${speaker.channel}:${speaker.senderId}`) &&
      (rule.role === undefined || rule.role === speaker.role) &&
      (rule.chat === undefined || rule.chat === speaker.chatType),
    fits,
    mayMeanPart: (access) =>
      isForAll || (access.kind === "call" && textsIn(access.input).some((detail) => fits({ kind: "other", detail }))),
  };
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** What is allowed is allowed as it is written; what is denied or asked about is so in whatever way it is written. */
function argumentMatcher(
  argument: string,
  verdict: PolicyRule["verdict"],
  locations: LocationNames,
): (access: ToolAccess) => boolean {
  if (verdict !== "allow") {
    // The same call is compared again for each thing that it does.
    const calls = new WeakMap<ToolAccess, boolean>();
    return (access) => {
      const known = calls.get(access);
      if (known !== undefined) return known;
      const matches = matchesWidely(argument, access, locations);
      if (access.kind === "call") calls.set(access, matches);
      return matches;
    };
  }
  const glob = globOf(argument);
  const command = allowedCommand(argument);
  return (access) =>
    access.kind === "command"
      ? command.matches(access.command)
      : exactNames(access, locations).some((name) => matchesGlob(glob, name));
}

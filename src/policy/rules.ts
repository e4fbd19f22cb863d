import { argumentOf, type ToolAccess, type ToolUse } from "./access.js";

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

/** Finds the last rule that matches. `nameOf` gives a path as it is called within the workspace. */
export function createRules(
  rules: readonly PolicyRule[],
  nameOf: (path: string) => string,
): (use: ToolUse) => RuleMatch | undefined {
  const compiled = rules
    .map((rule, index) => ({ matches: toMatcher(rule, nameOf), index, verdict: rule.verdict }))
    .reverse();
  return (use) => {
    const found = compiled.find(({ matches }) => matches(use));
    return found === undefined ? undefined : { verdict: found.verdict, name: `policy.rules[${found.index}]` };
  };
}

function toMatcher(rule: PolicyRule, nameOf: (path: string) => string): (use: ToolUse) => boolean {
  const tool = toPattern(rule.tool);
  const channel = toPattern(rule.channel);
  const sender = toPattern(rule.sender);
  const argument = toPattern(rule.argument);
  // `git *` is meant to allow one program, not what a shell would run behind it.
  const command = rule.verdict === "allow" ? toPattern(rule.argument, "[^;&|`$()<>\\n\\r\\\\]") : argument;
  return ({ tool: { name }, access, speaker }) =>
    tool.test(name) &&
    channel.test(speaker.channel) &&
    sender.test(`${speaker.channel}:${speaker.senderId}`) &&
    (rule.role === undefined || rule.role === speaker.role) &&
    (rule.chat === undefined || rule.chat === speaker.chatType) &&
    (rule.argument === undefined ||
      namesOf(access, nameOf).some((text) => (access.kind === "command" ? command : argument).test(text)));
}

/** A path counts by both of its names, an address also without what follows its host. */
function namesOf(access: ToolAccess, nameOf: (path: string) => string): readonly string[] {
  const argument = argumentOf(access);
  if (access.kind === "read" || access.kind === "write") return [argument, nameOf(argument)];
  if (access.kind === "network" && URL.canParse(argument)) return [argument, new URL(argument).hostname];
  return [argument];
}

function toPattern(glob: string | undefined, any = "."): RegExp {
  const source = (glob ?? "*")
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", `${any}*`)
    .replaceAll("?", any);
  return new RegExp(`^${source}$`, "su");
}

// Small wrong turns of the policy. Those that name a unit test are part of the sample; all of them run with `--all`.
const policy = "src/policy/policy.ts";
const access = "src/policy/access.ts";
const approvers = "src/policy/approvers.ts";
const audience = "src/policy/audience.ts";
const grants = "src/policy/grants.ts";
const paths = "src/policy/locations/paths.ts";
const rules = "src/policy/rules.ts";
const names = "src/policy/rule-names.ts";
const commands = "src/policy/commands/allowed-command.ts";
const programs = "src/policy/commands/command-programs.ts";
const words = "src/policy/commands/shell-words.ts";
const limits = "src/policy/tool-limits.ts";
const locations = "src/policy/locations/location-limits.ts";
const zones = "src/policy/locations/zones.ts";
const approvals = "src/agent/calls/approvals.ts";
const harm = "src/policy/commands/harmful-commands.ts";
const reach = "src/policy/commands/command-reach.ts";
const commandPaths = "src/policy/commands/command-paths.ts";
const sights = "src/tools/exec/bare-sights.ts";
const exec = "src/tools/exec/exec.ts";
const registry = "src/tools/registry.ts";
const provenance = "src/agent/calls/provenance.ts";
const ruleTest = "e2e/people/policy-rules";
const harmTest = "unit/policy/policy-harm";
const bareTest = "e2e/people/provenance-bare";
const matrixTest = "unit/policy/policy-matrix";

export const mutations = [
  // Who may talk.
  [policy, `speaker.chatType === "group" && !speaker.addressed`, `speaker.chatType === "group" && !speaker.senderId`],
  [policy, `if (!isStableId(speaker.senderId))`, `if (speaker.senderId === "")`, matrixTest],
  [policy, `if (!allowGroups.includes(speaker.chatId ?? ""))`, `if (speaker.chatId === undefined)`],
  [policy, `return /^[a-z0-9-]+:[^-]/.test(owner)`, `return /^[a-z0-9-]+:./.test(owner)`],
  // What a tool may do at all.
  [policy, `if (limit !== undefined) return { verdict: "deny", sentence: limit };`, ``, matrixTest],
  [policy, `if (rule?.verdict === "deny")`, `if (rule?.name === "deny")`],
  [policy, `if (rule?.verdict === "ask")`, `if (rule?.name === "ask")`],
  [policy, `!(steers && others !== undefined)`, `true`],
  [policy, `executionMode === "auto"`, `executionMode !== "safe"`],
  [policy, `use.speaker.role === "owner" && !steers && scopeOf(use)`, `!steers && scopeOf(use)`],
  [policy, `use.speaker.role === "owner" && !steers && scopeOf(use)`, `use.speaker.role === "owner" && scopeOf(use)`],
  [
    policy,
    `steers || isOutward(use.tool, use.access) ? othersIn(use)`,
    `isOutward(use.tool, use.access) ? othersIn(use)`,
  ],
  [policy, `steers || isOutward(use.tool, use.access) ? othersIn(use)`, `steers ? othersIn(use)`],
  [policy, `outside.length > 0`, `outside.length > 1`],
  [policy, `isGroup || (speaker.role === "owner" && speaker.audience === "others")`, `isGroup`],
  [policy, `isGroup || (speaker.role === "owner"`, `(speaker.role === "owner"`],
  [access, `return access.sends;`, `return false;`],
  [access, `return !access.isOwn;`, `return false;`],
  [access, `!access.isSandboxed || access.hasNetwork === true`, `!access.isSandboxed`],
  [access, `!access.isSandboxed || access.hasNetwork === true`, `access.hasNetwork === true`],
  [access, `return access.access === "write";`, `return false;`],
  [access, `return access.detail === "add";`, `return false;`],
  [access, `return tool.risk === "call" && tool.effect !== "read";`, `return false;`],
  // Whose yes counts, and what "always" binds.
  [approvers, `if (isByRule) return "owner";`, ``],
  [approvers, `return speaker.chatType === "dm" ? "asker" : "owner";`, `return "asker";`],
  [approvers, `default:\n      return "owner";`, `default:\n      return "asker";`],
  [
    grants,
    `if (files === undefined) return undefined;`,
    `if (files === undefined) return { ...common, kind: "command", argument: access.command, files: [] };`,
  ],
  [
    grants,
    `files.map(({ path, sha256 }) => [path, sha256]), chat, whom`,
    `files.map(({ path }) => [path]), chat, whom`,
  ],
  [
    grants,
    `files.map(({ path, sha256 }) => [path, sha256]), chat, whom`,
    `files.map(({ path, sha256 }) => [path, sha256]), whom`,
  ],
  [
    grants,
    `files.map(({ path, sha256 }) => [path, sha256]), chat, whom`,
    `files.map(({ path, sha256 }) => [path, sha256]), chat`,
  ],
  [grants, `argument: canonicalJson(access.input)`, `argument: ""`],
  [grants, `access.isSandboxed && isOpenCommand(access) ? "command with network" : "command"`, `"command"`],
  // Who reads along.
  [audience, `isDirect && owners.includes(chat) ? "owner" : "others"`, `owners.includes(chat) ? "owner" : "others"`],
  [audience, `return { audience: "others", chat: plainIds`, `return { audience: "owner", chat: plainIds`],
  // Places.
  [paths, `relative !== ".." && `, ``],
  [paths, `!relative.startsWith(\`..\${path.sep}\`) && `, ``],
  [locations, `if (restrictToWorkspace)`, `if (verb === "write")`],
  [locations, `isPrivate(speaker) ? undefined :`, `speaker.role === "owner" ? undefined :`],
  [
    locations,
    `return use.speaker.role === "owner"\n            ? undefined`,
    `return use.speaker.role !== undefined\n            ? undefined`,
  ],
  [zones, `if ([...parts, ...plain].some((part) => part.startsWith("."))) return "hidden";`, ``, matrixTest],
  [zones, `relative.startsWith(".") || `, ``],
  [zones, `if (!isInside(workspace, target)) return true;`, `if (!isInside(workspace, target)) return false;`],
  [zones, `\n    .toLowerCase();`, `;`],
  [zones, `if (isInside(memory, target) || plain[0] === "memory") return "memory";`, ``],
  [limits, `if (executionMode === "safe" && !isReading)`, `if (executionMode === "safe" && isReading)`, matrixTest],
  [limits, `use.isPlanning === true && !isReading`, `use.isPlanning === true && isReading`],
  [limits, `return access.isOwn || speaker.role === "owner"`, `return access.isOwn || speaker.role !== undefined`],
  [
    limits,
    `return !isOpenCommand(access) || speaker.role === "owner"`,
    `return !isOpenCommand(access) || speaker.role !== undefined`,
  ],
  [limits, `access.of === "chat" || isPrivate(speaker)`, `access.of === "chat" || speaker.role === "owner"`],
  // Rules.
  [rules, `compile(rule, index, locations)).reverse();`, `compile(rule, index, locations));`, matrixTest],
  [rules, `(rule.role === undefined || rule.role === speaker.role) &&`, ``],
  [rules, `(rule.chat === undefined || rule.chat === speaker.chatType)`, `true`],
  [rules, `if (verdict !== "allow") {`, `if (verdict === undefined) {`, matrixTest],
  // What a rule says about a call's input, and what is left to the parts of the call.
  [rules, `!(isLeft && rule.mayMeanPart(access))`, `!isLeft`, ruleTest],
  [rules, `(one.verdict === "allow" || !one.isForAll)`, `one.verdict === "allow"`, ruleTest],
  [rules, `opener >= rule.index : opener > rule.index`, `true : true`, ruleTest],
  [
    rules,
    `return rule.verdict === "deny" || rule.isForAll ? rule :`,
    `return rule.verdict !== undefined ? rule :`,
    ruleTest,
  ],
  [policy, `isCallOfParts(use) && rule?.verdict !== "ask"`, `isCallOfParts(use)`, ruleTest],
  [access, ` && tool.asksNothing !== "all"`, ``, ruleTest],
  // What destroys too much, and what commands without a sandbox reach.
  [policy, `rule?.verdict === "allow" && harm === undefined`, `rule?.verdict === "allow"`, harmTest],
  [harm, `return isWhole ? undefined :`, `return parts.length > 0 ? undefined :`, harmTest],
  [harm, `if (!isAll) return false;`, `if (isAll) return false;`, harmTest],
  [reach, `if (!isClear) return`, `if (command === "") return`, harmTest],
  [reach, `zone === "outside" && !mayLeave`, `zone === "outside" && mayLeave`, harmTest],
  [exec, `isSandboxed || context.permissions.allowedByPerson(access)`, `isSandboxed || command !== ""`, bareTest],
  [sights, `named.isClear ? named : withReceived(named, ground)`, `named`, bareTest],
  [sights, `origin !== undefined && !isOwnUpload(target)`, `origin !== undefined`, bareTest],
  [commandPaths, `paths.add(path.resolve(start, one))`, `paths.add(path.resolve(cwd, one))`, bareTest],
  // Whose a file is, and what a call may hold.
  [provenance, `return by !== undefined && isOwner(`, `return by !== undefined || !isOwner(`, "e2e/people/own-uploads"],
  [registry, `if (parsed.success && strange.length === 0)`, `if (parsed.success)`, "unit/tools/tools-registry"],
  [names, `.normalize("NFKC").toUpperCase()`, `.toUpperCase()`],
  [commands, `return !isOpen || !opensMore(`, `return true || !opensMore(`],
  [commands, `if (isOpen && runsAnything(program))`, `if (program === "")`],
  [programs, `if (name === "git") return opensMoreOfGit(words);`, ``],
  [words, `if (/[$\`!]/.test(character)) return undefined;`, ``],
  // Questions.
  [
    approvals,
    `if (decision.verdict === "deny") return decision.sentence;`,
    `if (decision.verdict === "deny") return undefined;`,
  ],
  [
    approvals,
    `if (answer.optionId !== "allow_once" && answer.optionId !== "allow_always")`,
    `if (answer.outcome !== "answered")`,
  ],
  [approvals, `const name = JSON.stringify(access);`, `const name = access.kind;`],
  [approvals, `if (!canBeShown(scope.call.input))`, `if (scope.call.id === "")`],
  [approvals, `if (files !== undefined && JSON.stringify`, `if (files === undefined && JSON.stringify`],
  [approvals, `    approver,\n    tool_call_id`, `    approver: "asker",\n    tool_call_id`],
];

/** The quickest first: what no test is named for is noticed by the first of them that fails. */
export const groups = [
  ["unit", /^(policy-|permit|audience|owner-memory)/],
  ["unit", /^(tools-(files|chat|web-fetch)|exec-attacks|memory|audience|question)/],
  ["e2e", /^(approvals|questions|mcp|plan|.*memory.*|skills|policy.*)\.test/],
  ["e2e", /^attack\.test/],
];

// Small wrong turns of the policy, one line each: the file, what stands there exactly once, and what stands there
// instead. `scripts/mutate-policy.mjs` looks whether the tests notice each of them.
const policy = "src/policy/policy.ts";
const access = "src/policy/access.ts";
const grants = "src/policy/grants.ts";
const paths = "src/policy/paths.ts";
const rules = "src/policy/rules.ts";
const limits = "src/policy/tool-limits.ts";
const zones = "src/policy/zones.ts";
const approvals = "src/agent/approvals.ts";

export const mutations = [
  [policy, `new Set(["webui", "cli"])`, `new Set(["webui", "cli", "telegram"])`],
  [policy, `speaker.chatType === "group" && !speaker.addressed`, `speaker.chatType === "group" && !speaker.senderId`],
  [policy, `if (!isStableId(speaker.senderId))`, `if (speaker.senderId === "")`],
  [policy, `if (!allowGroups.includes(speaker.chatId ?? ""))`, `if (speaker.chatId === undefined)`],
  [policy, `if (limit !== undefined) return { verdict: "deny", sentence: limit };`, ``],
  [policy, `if (rule?.verdict === "deny")`, `if (rule?.name === "deny")`],
  [policy, `if (rule?.verdict === "ask")`, `if (rule?.name === "ask")`],
  [policy, `isOutward(use.tool, use.access) ? othersIn(use) : undefined`, `undefined`],
  [policy, `executionMode === "auto"`, `executionMode !== "safe"`],
  [policy, `outside.length > 0`, `outside.length > 1`],
  [policy, `return speaker.chatType === "group" ?`, `return speaker.channel === "group" ?`],
  [policy, `return ask(risk, use.speaker.role === "owner");`, `return ask(risk, true);`],
  [access, `return access.sends;`, `return false;`],
  [access, `return !access.isOwn;`, `return false;`],
  [access, `!access.isSandboxed || access.hasNetwork === true`, `!access.isSandboxed`],
  [access, `!access.isSandboxed || access.hasNetwork === true`, `access.hasNetwork === true`],
  [access, `return access.access === "write";`, `return false;`],
  [access, `return access.detail === "add";`, `return false;`],
  [access, `return tool.risk === "call" && tool.effect !== "read";`, `return false;`],
  [grants, `access.kind === "call" ? "" : argumentOf(access)`, `""`],
  [grants, `isOpenInSandbox(access) ? "command with network" : access.kind`, `access.kind`],
  [grants, `speaker.role === "owner" ? "owner" : `, `speaker.role !== undefined ? "owner" : `],
  [paths, `relative !== ".." && `, ``],
  [paths, `!relative.startsWith(\`..\${path.sep}\`) && `, ``],
  [paths, `if (await isPresent(current)) return`, `if (current === "") return`],
  [
    paths,
    `constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK`,
    `constants.O_RDONLY | constants.O_NOFOLLOW`,
  ],
  [paths, `if ((await realpath(resolved)) !== resolved)`, `if ((await realpath(resolved)) === "")`],
  [rules, `\n    .reverse()`, ``],
  [rules, `"[^;&|\`$()<>\\\\n\\\\r\\\\\\\\]"`, `"."`],
  [rules, `(rule.role === undefined || rule.role === speaker.role) &&`, ``],
  [rules, `(rule.chat === undefined || rule.chat === speaker.chatType) &&`, ``],
  [rules, `sender.test(\`\${speaker.channel}:\${speaker.senderId}\`) &&`, ``],
  [rules, `[argument, new URL(argument).hostname]`, `[argument]`],
  [limits, `options.executionMode === "safe" && !isReading`, `options.executionMode === "safe" && isReading`],
  [limits, `use.isPlanning === true && !isReading`, `use.isPlanning === true && isReading`],
  [limits, `if (options.restrictToWorkspace)`, `if (verb === "write")`],
  [limits, `return access.isOwn || speaker.role === "owner"`, `return access.isOwn || speaker.role !== undefined`],
  [
    limits,
    `return !isOpenCommand(access) || speaker.role === "owner"`,
    `return !isOpenCommand(access) || speaker.role !== undefined`,
  ],
  [
    limits,
    `if (zone === "steering") return "that steers the assistant";`,
    `if (zone === "steering") return undefined;`,
  ],
  [limits, `return access.isOwn ? undefined : "that is another chat";`, `return undefined;`],
  [zones, `const name = parts.join("/").toLowerCase();`, `const name = parts.join("/");`],
  [zones, `if (parts.some((part) => part.startsWith("."))) return "hidden";`, ``],
  [zones, `relative.startsWith(".") || `, ``],
  [zones, `if (!isInside(workspace, target)) return true;`, `if (!isInside(workspace, target)) return false;`],
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
];

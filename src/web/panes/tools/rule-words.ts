import type { Rule } from "./policy.js";
import { toolsWords } from "./words.js";

/** A rule as people say it: "Commands that begin with `git` are allowed, for owners." */
export function sentenceOf(rule: Rule): string {
  const { t } = toolsWords;
  const verdict = rule.verdict === "allow" ? "isAllowed" : rule.verdict === "deny" ? "isDenied" : "isAsked";
  const limits = limitsOf(rule);
  const said = t(verdict, { what: subjectOf(rule) });
  return limits.length === 0 ? t("whole", { said }) : t("wholeWith", { said, limits: limits.join(t("comma")) });
}

function subjectOf({ tool = "*", argument = "*" }: Rule): string {
  const { t } = toolsWords;
  const isAny = /^\*+$/.test(argument);
  if (tool === "exec") return isAny ? t("anyCommand") : commandOf(argument);
  if (tool === "write_file") return isAny ? t("anyWrite") : t("writeOf", { argument });
  if (tool === "read_file") return isAny ? t("anyRead") : t("readOf", { argument });
  if (tool === "web_fetch") return isAny ? t("anyFetch") : t("fetchOf", { argument });
  if (/^\*+$/.test(tool)) return isAny ? t("anything") : t("anyWith", { argument });
  return isAny ? t("toolOf", { tool }) : t("toolWith", { tool, argument });
}

function commandOf(argument: string): string {
  const { t } = toolsWords;
  const start = argument.endsWith("*") ? argument.slice(0, -1).trimEnd() : "";
  if (start !== "" && !/[*?]/.test(start)) return t("commandsFrom", { start });
  return /[*?]/.test(argument) ? t("commandsLike", { argument }) : t("commandOf", { argument });
}

function limitsOf({ role, chat, channel, sender }: Rule): readonly string[] {
  const { t } = toolsWords;
  return [
    ...(role === "owner" ? [t("forOwners")] : role === "guest" ? [t("forGuests")] : []),
    ...(chat === "dm" ? [t("inDirect")] : chat === "group" ? [t("inGroups")] : []),
    ...(channel === undefined ? [] : [t("onChannel", { channel })]),
    ...(sender === undefined ? [] : [t("forSender", { sender })]),
  ];
}

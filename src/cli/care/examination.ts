import { faultSentence } from "../../config/faults/fault.js";
import type { Check } from "../../doctor/check.js";
import { type Result, runChecks, scoreOf } from "../../doctor/examine.js";
import { unfinishedRestore } from "../../offline/unfinished.js";
import { type CommandContext, findContext, openContext } from "../context.js";
import { exitCodes } from "../exit.js";
import { harmless, print, printJson } from "../text/output.js";

export interface ExamineFlags {
  readonly config?: string;
  readonly json?: true;
  readonly fix?: true;
  readonly model?: true;
  readonly offline?: true;
}

/** `maxclaw doctor`. */
export async function examine(flags: ExamineFlags, version: string): Promise<void> {
  const { healthChecks, securityChecks } = await import("../../doctor/all-checks.js");
  const context = await findContext(flags.config);
  const checks = { health: healthChecks, security: securityChecks };
  const { health, security, score, noScore } =
    halfRestored(context.home) ?? (await look(context, flags, version, checks));
  const all = [...health, ...security];
  if (all.some(({ level }) => level === "fail")) process.exitCode = exitCodes.failure;
  if (flags.json)
    return printJson({
      ok: process.exitCode === undefined,
      version,
      findings: health,
      security: { score, findings: security },
    });
  for (const one of health) show(one);
  print(`\nSecurity: ${noScore ?? `${score} of 100`}`);
  for (const one of security) show(one);
  print(`\n${summary(all)}`);
}

/** `maxclaw security`. */
export async function examineSecurity(flags: ExamineFlags, version: string): Promise<void> {
  const { securityChecks } = await import("../../doctor/all-checks.js");
  const { security, score, noScore } = await look(await openContext(flags.config), flags, version, {
    health: [],
    security: securityChecks,
  });
  if (security.some(({ level }) => level === "fail")) process.exitCode = exitCodes.failure;
  if (flags.json) return printJson({ ok: process.exitCode === undefined, version, score, findings: security });
  for (const one of security) show(one);
  print(`\nSecurity: ${noScore ?? `${score} of 100`}. ${summary(security)}`);
}

interface Looked {
  readonly health: readonly Result[];
  readonly security: readonly Result[];
  /** Null where nobody can say. */
  readonly score: number | null;
  /** Why there is none. */
  readonly noScore?: string;
}

/** All that a home that a restore has left halfway has to show: anything else would be about half of a home. */
function halfRestored(home: string): Looked | undefined {
  const found = unfinishedRestore(home);
  if (found === undefined) return undefined;
  return {
    health: [{ check: "home", level: "fail", found }],
    security: [],
    score: null,
    noScore: "no score, because a restore was cut off halfway",
  };
}

async function look(
  context: CommandContext,
  { fix, model, offline }: ExamineFlags,
  version: string,
  checks: { readonly health: readonly Check[]; readonly security: readonly Check[] },
): Promise<Looked> {
  const { openWorld } = await import("./doctor-world.js");
  const world = await openWorld(context, { version, asksModel: model === true });
  const signal = new AbortController().signal;
  const options = { fix: fix === true, signal };
  const chosen = (all: readonly Check[]): readonly Check[] =>
    all.filter(({ isLive }) => isLive !== true || offline !== true);
  const [health, security] = await Promise.all([
    runChecks(chosen(checks.health), world, options),
    runChecks(chosen(checks.security), world, options),
  ]);
  const { unparsable } = world.loaded;
  if (unparsable === undefined) return { health, security, score: scoreOf(security) };
  return { health, security, score: null, noScore: `no score, because ${faultSentence(unparsable.path, unparsable)}` };
}

function show({ check, level, found, todo, fixed }: Result): void {
  const label = level === "ok" && fixed !== undefined ? "done" : level;
  const lines = found.split("\n").map((line) => line.trim());
  print(harmless(`${label.padEnd(4)}  ${check.padEnd(11)}  ${lines.join(" ")}`));
  const gap = " ".repeat(19);
  if (fixed !== undefined) print(harmless(`${gap}Done: ${fixed}`));
  if (todo !== undefined) print(harmless(`${gap}To do: ${todo}`));
}

function summary(all: readonly Result[]): string {
  const count = (level: Result["level"]): number => all.filter((one) => one.level === level).length;
  const [fails, warnings] = [count("fail"), count("warn")];
  if (fails === 0 && warnings === 0) return "All is well.";
  const words = [
    fails === 0 ? [] : [fails === 1 ? "1 thing has to be put right" : `${fails} things have to be put right`],
    warnings === 0 ? [] : [warnings === 1 ? "1 thing deserves a look" : `${warnings} things deserve a look`],
  ].flat();
  const fixable = all.filter(({ isFixable }) => isFixable === true).length;
  const hint = fixable === 0 ? "" : ` --fix puts ${fixable} of them right by itself.`;
  return `${words.join(", ")}.${hint}`;
}

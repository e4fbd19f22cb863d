import { faultSentence } from "../config/faults/fault.js";
import { createMask } from "../log/mask.js";
import { linked } from "../util/async/linked.js";
import { within } from "../util/async/within.js";
import { pathOf } from "../util/error-code.js";
import { adviceOf, reasonOf } from "../util/files/system-fault.js";
import { findingSentence } from "../util/words/finding-sentences.js";
import type { Check, Finding, Fix, Level, World } from "./check.js";

/** A finding as people and scripts see it: without secrets. */
export interface Result {
  readonly check: string;
  readonly level: Level;
  readonly found: string;
  readonly todo?: string;
  /** `--fix` can put it right. */
  readonly isFixable?: true;
  /** What was done about it, or why it could not be. */
  readonly fixed?: string;
}

const usualLimitMs = 20_000;

/** Runs all checks at once. Each ends within its limit, and whatever goes wrong in it is its finding. */
export async function runChecks(
  checks: readonly Check[],
  world: World,
  { fix, signal }: { readonly fix: boolean; readonly signal: AbortSignal },
): Promise<readonly Result[]> {
  const mask = createMask(world.loaded.secrets);
  const found = await Promise.all(checks.map(async (check) => ({ check, findings: await look(check, world, signal) })));
  const results: Result[] = [];
  // One after the other: what one has mended, the next one may need.
  for (const { check, findings } of found)
    for (const { level, found: text, todo, fix: cure } of findings) {
      const fixed = fix && cure !== undefined && level !== "ok" ? await mend(cure) : undefined;
      results.push({
        check: check.name,
        level: fixed?.isDone === true ? "ok" : level,
        found: mask(text),
        ...(todo === undefined || fixed?.isDone === true ? {} : { todo: mask(todo) }),
        ...(cure !== undefined && level !== "ok" && fixed === undefined ? { isFixable: true } : {}),
        ...(fixed === undefined ? {} : { fixed: mask(fixed.text) }),
      });
    }
  return results;
}

async function look(check: Check, world: World, parent: AbortSignal): Promise<readonly Finding[]> {
  const { unparsable } = world.loaded;
  if (check.readsConfig === true && unparsable !== undefined)
    return [
      {
        level: "fail",
        found: findingSentence("not_judged", { reason: faultSentence(unparsable.path, unparsable) }),
        todo: findingSentence("correct_checked"),
      },
    ];
  const ms = check.limitMs ?? usualLimitMs;
  using scope = linked(parent);
  const late = (): Error => new Error(findingSentence("no_answer", { seconds: ms / 1000 }));
  try {
    return await within(check.run(world, scope.signal), { ms, signal: parent, late });
  } catch (error) {
    parent.throwIfAborted();
    const name = pathOf(error);
    const why = reasonOf(error);
    const reason = name === undefined ? why : findingSentence("of_one", { name, reason: why });
    return [{ level: "fail", found: findingSentence("not_checked", { reason }), todo: adviceOf(error) }];
  } finally {
    scope.abort();
  }
}

async function mend({ does, apply }: Fix): Promise<{ readonly isDone: boolean; readonly text: string }> {
  try {
    await apply();
    return { isDone: true, text: does };
  } catch (error) {
    return { isDone: false, text: `${does} failed: ${reasonOf(error)}` };
  }
}

/** From 100 down: 20 for each failure, 5 for each warning, never below 0. */
export function scoreOf(results: readonly Pick<Result, "level">[]): number {
  const count = (level: Level): number => results.filter((one) => one.level === level).length;
  return Math.max(0, 100 - 20 * count("fail") - 5 * count("warn"));
}

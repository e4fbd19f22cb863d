import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigError, messageOf } from "../errors.js";
import { type Candidate, findHomes, kindOf } from "../migrate/detect.js";
import { makePlan, type Step, type Target } from "../migrate/plan.js";
import { readSource } from "../migrate/read-source.js";
import type { Problem, SourceKind } from "../migrate/source.js";
import { makeFolder } from "../util/files/make-folder.js";
import { isInside, lockFiles } from "./files.js";

export type { SourceKind } from "../migrate/source.js";

export interface MigrationRequest {
  readonly target: Target;
  readonly homedir: string;
  /** Default: every old home in its usual place. */
  readonly from: string | undefined;
  /** Default: by its files. */
  readonly kind: SourceKind | undefined;
  /** False: only tells what would be done. */
  readonly isApplied: boolean;
  /** Unix ms. */
  readonly now: number;
}

/** What happened to one thing, or would happen to it. */
export type MigratedStep = Omit<Step, "apply" | "status"> & { readonly status: Step["status"] | "failed" };

export interface MigratedHome {
  readonly kind: SourceKind;
  readonly folder: string;
  readonly workspace: string;
  readonly steps: readonly MigratedStep[];
  /** What is not taken over. */
  readonly problems: readonly Problem[];
}

/**
 * Takes over what old homes hold, or tells what that would mean. Nothing that is there is overwritten, the old homes are
 * only read, and a second time does nothing. While it writes no gateway may run.
 *
 * @throws {ConfigError} when there is nothing to take over, or the old home is the one that is in use
 * @throws {EngineError} `locked` when a gateway runs
 */
export async function migrate(request: MigrationRequest): Promise<readonly MigratedHome[]> {
  const { target, isApplied } = request;
  const homes = await chosenHomes(request);
  if (!isApplied) return await eachHome(homes, request);
  await makeFolder(target.home);
  const locks = await lockFiles(target.home, target.workspace);
  try {
    return await eachHome(homes, request);
  } finally {
    for (const lock of locks) lock.release();
  }
}

async function eachHome(homes: readonly Candidate[], request: MigrationRequest): Promise<readonly MigratedHome[]> {
  const migrated: MigratedHome[] = [];
  for (const home of homes) migrated.push(await migrateHome(home, request));
  return migrated;
}

async function migrateHome(
  home: Candidate,
  { target, homedir, now, isApplied }: MigrationRequest,
): Promise<MigratedHome> {
  const source = await readSource(home, homedir, now);
  const { kind, folder, workspace } = source;
  if ((await readRealPath(workspace)) === (await readRealPath(target.workspace)))
    throw new ConfigError(
      `${folder} has the workspace ${workspace}, which is in use here already. Set another agents.defaults.workspace first.`,
    );
  const { steps, problems } = await makePlan(source, target);
  const done: MigratedStep[] = [];
  for (const { apply, ...step } of steps) {
    try {
      if (isApplied) await apply?.();
      done.push(step);
    } catch (error) {
      done.push({ ...step, status: "failed", remark: messageOf(error) });
    }
  }
  return { kind, folder, workspace, steps: done, problems };
}

async function chosenHomes({ target, homedir, from, kind }: MigrationRequest): Promise<readonly Candidate[]> {
  const home = await readRealPath(target.home);
  if (from !== undefined) {
    const folder = await readRealPath(from);
    if (isInside(home, folder) || isInside(folder, home))
      throw new ConfigError(
        `${from} is in use as the home already: name another one with MAXCLAW_HOME, e.g. ~/.maxclaw.`,
      );
    const found = await kindOf(folder);
    if (found === undefined)
      throw new ConfigError(`${from} is not a home of maxclaw, nanobot or OpenClaw: none of their files are in it.`);
    return [{ folder, kind: kind ?? found }];
  }
  const candidates = (await findHomes(homedir)).filter((candidate) => kind === undefined || candidate.kind === kind);
  const others = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const folder = await readRealPath(candidate.folder);
    if (folder !== home && !others.has(folder)) others.set(folder, { ...candidate, folder });
  }
  if (others.size > 0) return [...others.values()];
  const hint = candidates.length > 0 ? `${target.home} itself is in use here. ` : "";
  throw new ConfigError(
    `${hint}There is no other home of ${kind ?? "maxclaw, nanobot or OpenClaw"} in ${homedir}. Name it: maxclaw migrate --from <folder>`,
  );
}

async function readRealPath(path: string): Promise<string> {
  return await realpath(path).catch(() => resolve(path));
}

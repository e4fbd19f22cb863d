import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, lstat, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, parse } from "node:path";
import { blankConfig } from "../config/blank.js";
import { editConfig, readRaw } from "../config/edit.js";
import { messageOf } from "../errors.js";
import { createSessionFiles } from "../sessions/file-names.js";
import { isTemplate } from "../templates/workspace.js";
import { isMissing } from "../util/error-code.js";
import { makeFolder } from "../util/files/make-folder.js";
import { replaceFile } from "../util/files/replace-file.js";
import { filesBelow, isSameFile } from "./compare.js";
import { isObject } from "./openclaw/json5.js";
import type { FoundNote, FoundSetting, Problem, Source } from "./source.js";
import { pageKey } from "./transcript.js";

/** Where everything goes. */
export interface Target {
  readonly home: string;
  readonly workspace: string;
  /** Undefined when the config cannot be parsed and is therefore left alone. */
  readonly configFile: string | undefined;
}

export type Area = "memory" | "skills" | "files" | "sessions" | "cron" | "config";

/** One thing of an old home. `new` is written with `apply`, `same` is there already, `kept`: ours is another one and stays. */
export interface Step {
  readonly area: Area;
  /** What a person knows it by. */
  readonly what: string;
  readonly status: "new" | "same" | "kept";
  readonly remark?: string;
  readonly apply?: () => Promise<void>;
}

export interface Plan {
  readonly steps: readonly Step[];
  readonly problems: readonly Problem[];
}

/** What taking over this home means. Reads both sides and changes nothing. */
export async function makePlan(source: Source, target: Target): Promise<Plan> {
  const problems = [...source.problems];
  const steps: Step[] = [];
  for (const note of source.notes) {
    try {
      steps.push(...(await planNote(note, source, target)));
    } catch (error) {
      problems.push({ what: note.from, why: messageOf(error) });
    }
  }
  for (const folder of source.skillFolders) {
    for (const step of await planTree("skills", { from: folder, to: "skills" }, target, problems)) {
      const isTwice = steps.some(
        ({ area, what, status }) => area === "skills" && what === step.what && status === "new",
      );
      if (isTwice) problems.push({ what: `${step.what} of ${folder}`, why: "there is a skill of that name before it" });
      else steps.push(step);
    }
  }
  for (const tree of source.trees) steps.push(...(await planTree("files", tree, target, problems)));
  steps.push(...(await planSessions(source, target, problems)));
  steps.push(...(await planJobs(source, target)));
  steps.push(...(await planSettings(source.settings, target, problems)));
  return { steps, problems };
}

/** The text goes under a heading of its own, by which the next time sees that it is there. */
async function planNote(note: FoundNote, source: Source, { workspace }: Target): Promise<readonly Step[]> {
  const { from, to, toText = (text: string) => text } = note;
  const text = tidy(toText(await readFile(from, "utf8")));
  if (text === "" || isTemplate(to, text)) return [];
  const path = join(workspace, to);
  const there = await readFile(path, "utf8").catch(ifMissing(""));
  const heading = `## From ${source.kind}: ${from}`;
  const what = basename(from) === basename(to) ? to : `${basename(from)} → ${to}`;
  if (there.split("\n").includes(heading)) {
    const isWhole = tidy(there).includes(text);
    return [
      { area: "memory", what, status: isWhole ? "same" : "kept", ...(isWhole ? {} : { remark: "imported before" }) },
    ];
  }
  if (tidy(there).includes(text)) return [{ area: "memory", what, status: "same" }];
  const isUntouched = tidy(there) === "" || isTemplate(to, there);
  const apply = async (): Promise<void> => {
    await makeFolder(dirname(path), 0o777);
    const now = await readFile(path, "utf8").catch(ifMissing(""));
    // Two files of theirs may go into one of ours.
    const before = isTemplate(to, now) ? "" : now.trimEnd();
    await replaceFile(path, `${before === "" ? "" : `${before}\n\n`}${heading}\n\n${text}\n`);
  };
  return [{ area: "memory", what, status: "new", ...(isUntouched ? {} : { remark: "at the end of yours" }), apply }];
}

/** Each entry of a folder comes as a whole or not at all, where there is another one of that name. */
async function planTree(
  area: "skills" | "files",
  { from, to }: { readonly from: string; readonly to: string },
  { workspace }: Target,
  problems: Problem[],
): Promise<readonly Step[]> {
  const steps: Step[] = [];
  const { files, left } = await filesBelow(from);
  for (const path of left) problems.push({ what: path, why: "links and special files are not followed" });
  for (const [name, members] of groupFiles(files)) {
    const target = join(workspace, to, name);
    const what = name === "" ? to : `${to}/${name}`;
    const inner = members.map((path) => path.slice(name.length));
    const pairs = inner.map((path) => [join(from, name, path), join(target, path)] as const);
    const isThere = (await lstat(target).catch(ifMissing(undefined))) !== undefined;
    const isSame = isThere && (await Promise.all(pairs.map(([one, other]) => isSameFile(one, other)))).every(Boolean);
    if (isSame) steps.push({ area, what, status: "same" });
    else if (isThere) steps.push({ area, what, status: "kept", remark: "yours is different" });
    else steps.push({ area, what, status: "new", apply: () => copyWhole(join(from, name), inner, target) });
  }
  return steps;
}

/** The Go maxclaw has it in the session's folder, this one beside all of them. */
async function planOf(folder: string): Promise<string> {
  const kept = join(dirname(folder), ".kept", basename(folder), "plan.json");
  return (await lstat(kept).catch(ifMissing(undefined)))?.isFile() === true ? kept : join(folder, "plan.json");
}

/** Anyone who looks sees all of it or nothing, also when the copying is cut off. */
async function copyWhole(from: string, inner: readonly string[], to: string): Promise<void> {
  const staging = join(dirname(to), `.migrating-${basename(to)}`);
  await makeFolder(dirname(to), 0o777);
  await rm(staging, { recursive: true, force: true });
  for (const path of inner) {
    const staged = join(staging, path);
    await makeFolder(dirname(staged), 0o777);
    await copyFile(join(from, path), staged, constants.COPYFILE_EXCL);
  }
  if ((await lstat(to).catch(ifMissing(undefined))) !== undefined) throw new Error(`${to} exists already`);
  await rename(staging, to);
}

function groupFiles(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const path of files) {
    const name = path.split("/")[0] ?? "";
    groups.set(name, [...(groups.get(name) ?? []), path]);
  }
  return groups;
}

async function planSessions(
  { sessions, kind }: Source,
  { workspace }: Target,
  problems: Problem[],
): Promise<readonly Step[]> {
  const files = createSessionFiles(join(workspace, ".sessions"));
  const steps: Step[] = [];
  const taken = new Map<string, string>();
  for (const session of sessions) {
    const { messages, remark, folder } = session;
    // Several of theirs may belong to one chat of ours: the others go to the page.
    const key = taken.has(session.key) ? pageKey(kind, parse(session.from).name) : session.key;
    const other = taken.get(key);
    if (other !== undefined) {
      problems.push({ what: session.from, why: `${key} is imported from ${other}` });
      continue;
    }
    taken.set(key, session.from);
    const path = files.documentPath(key);
    const text = `${JSON.stringify({ ...session.document, key }, undefined, 2)}\n`;
    const there = await readFile(path, "utf8").catch(ifMissing(undefined));
    const hasLog = (await lstat(files.logPath(key)).catch(() => undefined)) !== undefined;
    const what = `${key}, ${messages} messages`;
    if (there === text && !hasLog) steps.push({ area: "sessions", what, status: "same" });
    else if (there !== undefined || hasLog)
      steps.push({ area: "sessions", what, status: "kept", remark: "this session exists already" });
    else {
      const plan = folder === undefined ? undefined : { from: await planOf(folder), to: files.folder(key) };
      const apply = async (): Promise<void> => {
        await makeFolder(dirname(path));
        if (plan !== undefined && (await lstat(plan.from).catch(() => undefined))?.isFile()) {
          await makeFolder(plan.to);
          await copyFile(plan.from, join(plan.to, "plan.json"), constants.COPYFILE_EXCL);
        }
        await writeFile(path, text, { flag: "wx", mode: 0o600 });
      };
      steps.push({ area: "sessions", what, status: "new", ...(remark === undefined ? {} : { remark }), apply });
    }
  }
  return steps;
}

/** In a file for each old home, which the next start of the gateway takes over once. */
async function planJobs({ jobs, kind, folder }: Source, { workspace }: Target): Promise<readonly Step[]> {
  const home = createHash("sha256").update(folder).digest("hex").slice(0, 8);
  const path = join(workspace, ".cron", `from-${kind}-${home}.json`);
  const count = Object.keys(jobs).length;
  if (count === 0) return [];
  const text = `${JSON.stringify(jobs, undefined, 2)}\n`;
  const there = await readFile(path, "utf8").catch(ifMissing(undefined));
  const what = `${count} scheduled jobs`;
  if (there === text) return [{ area: "cron", what, status: "same" }];
  if (there !== undefined) return [{ area: "cron", what, status: "kept", remark: "its jobs were imported before" }];
  const apply = async (): Promise<void> => {
    await makeFolder(dirname(path), 0o777);
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
  };
  return [{ area: "cron", what, status: "new", apply }];
}

/** Whole sections, so that the token of one bot never meets the allowlist of another. */
async function planSettings(
  settings: readonly FoundSetting[],
  { configFile }: Target,
  problems: Problem[],
): Promise<readonly Step[]> {
  if (configFile === undefined) {
    if (settings.length > 0)
      problems.push({
        what: "the config",
        why: "yours cannot be read, so nothing is written into it. Correct it first",
      });
    return [];
  }
  const steps: Step[] = [];
  for (const { path, value, remark } of settings) {
    const what = path.join(".");
    const there = await readRaw(configFile, path);
    if (!isBlank(path, there)) {
      const isSame = JSON.stringify(there) === JSON.stringify(value);
      steps.push({
        area: "config",
        what,
        status: isSame ? "same" : "kept",
        ...(isSame ? {} : { remark: "yours stays" }),
      });
      continue;
    }
    const apply = (): Promise<void> => editConfig(configFile, [{ path, value }]);
    steps.push({ area: "config", what, status: "new", ...(remark === undefined ? {} : { remark }), apply });
  }
  return steps;
}

/** What `onboard` wrote and nobody has filled in. How freely tools run was perhaps chosen all the same. */
function isBlank(path: readonly string[], there: unknown): boolean {
  if (there === undefined || there === null) return true;
  if (path.at(-1) === "executionMode") return false;
  const blank = path.reduce((value: unknown, key) => (isObject(value) ? value[key] : undefined), blankConfig);
  return JSON.stringify(there) === JSON.stringify(blank);
}

function tidy(text: string): string {
  return text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .trim();
}

function ifMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (isMissing(error)) return instead;
    throw error;
  };
}

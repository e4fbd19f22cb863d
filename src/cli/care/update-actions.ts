import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Origin } from "../../update/npm.js";
import { newestVersion } from "../../update/npm.js";
import { type Updated, update } from "../../update/update.js";
import { compareVersions, isVersion } from "../../update/version-order.js";
import { openContext } from "../context.js";
import { CommandError, exitCodes, whileChecking } from "../exit.js";
import { harmless, print, printJson, printNote } from "../text/output.js";
import { whileSaying } from "../text/while-saying.js";
import { dataOf } from "./update-data.js";
import { gatewayOf, leaveService, type RestartFlags } from "./update-gateway.js";

export interface UpdateFlags extends RestartFlags {
  readonly check?: true;
  readonly to?: string;
  readonly from?: string;
  readonly wait: number;
  readonly config?: string;
  readonly json?: true;
}

export async function checkUpdate({ json }: UpdateFlags, version: string): Promise<void> {
  const newest = await whileChecking(lookForNewest);
  const isNewer = compareVersions(newest, version) > 0;
  if (isNewer) process.exitCode = exitCodes.failure;
  if (json) {
    printJson({ version, newest, isNewer });
    return;
  }
  print(`In use:  ${version}`);
  print(`Newest:  ${newest}`);
  print(isNewer ? "Update with: maxclaw update" : "There is nothing newer.");
}

export async function runUpdate(flags: UpdateFlags, version: string): Promise<void> {
  if (process.env.MAXCLAW_IMAGE !== undefined)
    throw new CommandError(
      "This maxclaw is part of a container image. Get a newer image and start the container from it: docs/docker.md says how.",
    );
  const context = await openContext(flags.config);
  await assertOwner(context.home);
  const { lockUpdates } = await import("../../offline/update-lock.js");
  const lock = await lockUpdates(context.home);
  if (lock === undefined)
    throw new CommandError(
      `Another update of ${context.home} is under way. Nothing was done. What it does: updates.jsonl there`,
    );
  try {
    const origin = await originOf(flags, version);
    if (origin === undefined) {
      told(flags, version, undefined);
      return;
    }
    if (await leaveService(context, () => lock.release())) return;
    using stop = onSignals();
    const updated = await update({
      home: context.home,
      origin,
      running: version,
      base: await baseVersion(version),
      gateway: await gatewayOf(context, flags),
      data: dataOf(context, version),
      limitMs: flags.wait * 1000,
      say: (line) => (flags.json === true ? printNote(harmless(line)) : print(harmless(line))),
      signal: stop.signal,
    });
    told(flags, version, updated);
  } finally {
    lock.release();
  }
}

/** npm itself takes a second for it. */
const lookQuietMs = 2000;

async function lookForNewest(): Promise<string> {
  const look = (): Promise<string> => newestVersion(new AbortController().signal);
  return await whileSaying("Asking the package registry …", look, lookQuietMs);
}

/** Undefined: the newest one is in use. */
async function originOf({ to, from }: UpdateFlags, version: string): Promise<Origin | undefined> {
  if (to !== undefined && from !== undefined) throw new CommandError("Give either --to or --from.", exitCodes.usage);
  if (from !== undefined) {
    const file = resolve(from);
    if ((await stat(file).catch(() => undefined))?.isFile() !== true)
      throw new CommandError(`There is no file ${file}.`, exitCodes.usage);
    return { file };
  }
  if (to !== undefined && !isVersion(to))
    throw new CommandError(`"${to}" is not a version. A version looks like 0.2.0.`, exitCodes.usage);
  if (to !== undefined) return to === version ? undefined : { version: to };
  const newest = await lookForNewest();
  return compareVersions(newest, version) > 0 ? { version: newest } : undefined;
}

function told({ json, restart }: UpdateFlags, version: string, updated: Updated | undefined): void {
  if (json) {
    printJson(updated ?? { from: version, to: version });
    return;
  }
  if (updated === undefined) {
    print(`${version} is in use already. Nothing was done.`);
    return;
  }
  const { from, to, isRunning, backup } = updated;
  print(`Updated from ${from} to ${to}.`);
  if (isRunning) print("The gateway runs again, with the new version.");
  else if (restart === false) print(`A gateway that runs goes on as ${from}. Its next start is ${to}.`);
  else print(`No gateway was restarted. The next start is ${to}.`);
  print(`The backup from before is ${backup}`);
}

/** Of the program that was started: it is what runs where no update is in the home. */
async function baseVersion(own: string): Promise<string> {
  const script = process.argv[1];
  if (script === undefined) return own;
  const text = await realpath(script)
    .then((path) => readFile(join(dirname(dirname(path)), "package.json"), "utf8"))
    .catch(() => "{}");
  const parsed: unknown = JSON.parse(text);
  const found = typeof parsed === "object" && parsed !== null && "version" in parsed ? parsed.version : undefined;
  return typeof found === "string" && isVersion(found) ? found : own;
}

/** What root would write there, the gateway's account could not read or change. */
async function assertOwner(home: string): Promise<void> {
  const owner = (await stat(home).catch(() => undefined))?.uid;
  if (owner === undefined)
    throw new CommandError(`There is no home ${home}, so there is nothing to update. Update the program with npm.`);
  if (process.getuid?.() === owner) return;
  throw new CommandError(
    `${home} belongs to another account (uid ${owner}). Run the update as that account, e.g.: sudo -u '#${owner}' maxclaw update`,
  );
}

/** Aborts at Ctrl+C and SIGTERM, until disposed. */
function onSignals(): { readonly signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new CommandError("The update was stopped. Nothing was changed."));
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, stop);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, stop);
    },
  };
}

import { constants, existsSync, rmSync } from "node:fs";
import { access, chmod, copyFile, mkdtemp, readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { markName } from "../engine/embedded/damage/journal-mark.js";
import { homeFormatName } from "../engine/embedded/home-format.js";
import { gatewayLogName } from "../sessions/file-names.js";
import { isMissing } from "../util/error-code.js";
import { makeFolder } from "../util/files/make-folder.js";
import type { GatewayFiles } from "./events.js";
import { restoreMarker } from "./unfinished.js";

/** What a gateway reads of a home to answer questions about conversations and jobs. */
const homeParts = [homeFormatName, gatewayLogName, markName, restoreMarker, "journal", "sessions"];

/** Why this account cannot write where a gateway has to, as the system says it; undefined where it can. */
export async function whyNotWritable({ home, workspace }: GatewayFiles): Promise<unknown> {
  for (const folder of [home, join(workspace, ".sessions")]) {
    let there = folder;
    while (!existsSync(there) && there !== dirname(there)) there = dirname(there);
    const error = await access(there, constants.W_OK | constants.X_OK).then(
      () => undefined,
      (refusal: unknown) => refusal,
    );
    if (error !== undefined) return error;
  }
  return undefined;
}

/**
 * The same home as a copy for the length of a command, with what questions need: where there is none yet, or where it can
 * only be read. Only this account can read the copy.
 */
export async function copyHome({ home, workspace }: GatewayFiles): Promise<GatewayFiles & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-look-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  const undo = removeAtSignals(remove);
  const copied = join(folder, "workspace");
  const dispose = async (): Promise<void> => {
    remove();
    undo();
  };
  try {
    for (const name of homeParts) await copyInto(join(home, name), join(folder, name));
    await copyFlat(join(workspace, ".sessions"), join(copied, ".sessions"));
    await copyInto(join(workspace, "skills"), join(copied, "skills"));
  } catch (error) {
    await dispose();
    throw error;
  }
  return { home: folder, workspace: copied, [Symbol.asyncDispose]: dispose };
}

/** A file, or a folder with all that is in it. What is not there is left out, and so is what is neither. */
async function copyInto(from: string, to: string): Promise<void> {
  const found = await stat(from).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (found?.isFile() === true) {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await chmod(to, 0o600);
  } else if (found?.isDirectory() === true) {
    await makeFolder(to);
    for (const name of await readdir(from)) await copyInto(join(from, name), join(to, name));
  }
}

/** The files of a folder, without the folders in it: they hold what people have sent. */
async function copyFlat(from: string, to: string): Promise<void> {
  await makeFolder(to);
  if (!existsSync(from)) return;
  for (const entry of await readdir(from, { withFileTypes: true }))
    if (entry.isFile()) await copyInto(join(from, entry.name), join(to, entry.name));
}

/** A command that is stopped leaves nothing either. Returns the undo. */
function removeAtSignals(remove: () => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const onSignal = (signal: NodeJS.Signals): void => {
    remove();
    undo();
    process.kill(process.pid, signal);
  };
  const undo = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return undo;
}

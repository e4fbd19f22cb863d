import { readdir, realpath } from "node:fs/promises";
import path from "node:path";
import { type CommandPaths, pathsOfCommand } from "../../policy/commands/command-paths.js";
import { isInside } from "../../policy/locations/paths.js";
import { keptFolderOf, receivedFiles, type Zones } from "../../policy/locations/zones.js";
import type { ToolContext } from "../tool.js";

const maxEntries = 20_000;
const tooMuch = "a command that could read more files than can be looked at";

export interface BareGround {
  /** Where the command starts. */
  readonly cwd: string;
  /** The session's own. */
  readonly folder: string;
  readonly workspace: string;
  readonly zones: Pick<Zones, "zoneOf" | "outsideOf">;
  readonly isOwnUpload: (target: string) => boolean;
  /** Files elsewhere that others had a say in. */
  readonly isForeign: (target: string) => boolean;
}

export async function groundOf(
  context: Pick<ToolContext, "folder" | "files" | "commands">,
  zones: BareGround["zones"],
  cwd = context.folder,
): Promise<BareGround> {
  const { folder, files, commands } = context;
  const [isOwnUpload, isForeign] = await Promise.all([files.ownUploads(), commands.hiddenFiles()]);
  return { cwd, folder, workspace: files.workspace, zones, isOwnUpload, isForeign };
}

/**
 * What others wrote of what a command without a sandbox could read, where nobody was asked about it: the first such
 * file that its words name or that lies in a folder they name. Where the words do not say what it reads, also any file that
 * others sent to this chat. The files of the own folder are known to the labels by themselves.
 */
export async function findBareSights(command: string, ground: BareGround): Promise<readonly string[]> {
  const { cwd, folder, workspace } = ground;
  const named = pathsOfCommand(command, { cwd, workspace, home: folder });
  return await foreignIn(named.isClear ? named : withReceived(named, ground), ground);
}

/** Of what is typed into a program that runs: nobody knows what that makes of it. */
export async function findTypedSights(text: string, ground: BareGround): Promise<readonly string[]> {
  const { cwd, folder, workspace } = ground;
  return await foreignIn(withReceived(pathsOfCommand(text, { cwd, workspace, home: folder }), ground), ground);
}

function withReceived(named: CommandPaths, { folder }: BareGround): CommandPaths {
  const received = [keptFolderOf(folder), folder].map((root) => path.join(root, receivedFiles));
  return { ...named, paths: [...named.paths, ...received] };
}

async function foreignIn(
  { paths, followsLinks, isTooMuch }: CommandPaths,
  ground: BareGround,
): Promise<readonly string[]> {
  if (isTooMuch) return [tooMuch];
  const seen = new Set<string>();
  const waiting = [...paths];
  const sessions = await realpath(path.join(ground.workspace, ".sessions")).catch(() => undefined);
  for (let left = maxEntries; waiting.length > 0; ) {
    const target = await realpath(waiting.pop() ?? "").catch(() => undefined);
    if (target === undefined || seen.has(target)) continue;
    seen.add(target);
    const foreign = foreignAt(target, ground);
    if (foreign !== undefined) return [foreign];
    if (sessions !== undefined && isInside(sessions, target) && ground.zones.zoneOf(target, ground.folder) === "hidden")
      return ["files of another chat"];
    // What is not a folder holds nothing more.
    const entries = await readdir(target, { withFileTypes: true }).catch(() => []);
    left -= entries.length;
    if (left < 0) return [tooMuch];
    for (const entry of entries) {
      const full = path.join(target, entry.name);
      if (!entry.isSymbolicLink() || followsLinks || !(await isFolder(full))) waiting.push(full);
    }
  }
  return [];
}

function foreignAt(target: string, { folder, zones, isOwnUpload, isForeign }: BareGround): string | undefined {
  const origin = zones.outsideOf(target, folder);
  if (origin !== undefined && !isOwnUpload(target)) return origin;
  return isForeign(target) ? `the file ${path.basename(target)}` : undefined;
}

async function isFolder(link: string): Promise<boolean> {
  return await readdir(link).then(
    () => true,
    () => false,
  );
}

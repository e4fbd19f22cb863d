import { createHash } from "node:crypto";
import { open, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EngineError } from "../errors.js";
import { makeFolder } from "../util/files/make-folder.js";
import { archiveRoot, backupVersion, type Manifest, manifestPath, manifest as manifestSchema } from "./manifest.js";
import { type ArchiveLimits, broken, readArchive } from "./read-archive.js";
import { mayHold } from "./sources.js";
import type { TarEntry } from "./tar.js";

/** What an archive says about itself, and the config that is in it. */
export interface Inspected {
  readonly manifest: Manifest;
  readonly config: { readonly name: string; readonly content: Buffer } | undefined;
}

const mostManifestBytes = 128 * 1024 * 1024;
const mostConfigBytes = 16 * 1024 * 1024;

/**
 * Reads a whole archive and compares it with its manifest. Changes nothing.
 *
 * @throws {EngineError} `corrupt` when a byte of it is missing or changed, or when it is of a newer version
 */
export async function inspectBackup(file: string, signal: AbortSignal, limits?: ArchiveLimits): Promise<Inspected> {
  const found = new Map<string, { readonly bytes: number; readonly sha256: string }>();
  const others: string[] = [];
  const names = createNames(file);
  let manifest: unknown;
  let config: Inspected["config"];
  await readArchive(
    file,
    async (entry, content) => {
      if (manifest !== undefined) throw broken(file, new Error("something follows its manifest"));
      if (entry.path === manifestPath) {
        manifest = parseJson(file, (await readWhole(entry, content, mostManifestBytes, file)).toString());
        return;
      }
      const path = pathOf(file, entry);
      if (path !== undefined) names.add(path, entry);
      if (path !== undefined && entry.type !== "file") others.push(nameOf({ ...entry, path }));
      if (path === undefined || entry.type !== "file") return;
      const name = /^home\/(config\.(?:json|yaml))$/.exec(path)?.[1];
      const hash = createHash("sha256");
      const kept: Buffer[] = [];
      for await (const piece of content) {
        hash.update(piece);
        if (name !== undefined && entry.bytes <= mostConfigBytes) kept.push(piece);
      }
      if (name !== undefined) config = { name, content: Buffer.concat(kept) };
      found.set(path, { bytes: entry.bytes, sha256: hash.digest("hex") });
    },
    signal,
    limits,
  );
  return { manifest: checked(file, manifest, found, others), config };
}

/** Each name once, nothing below a link or a file, and links where people work only: the gateway makes none. */
function createNames(file: string): { add(path: string, entry: TarEntry): void } {
  const types = new Map<string, TarEntry["type"]>();
  const parents = new Set<string>();
  const refuse = (why: string): never => {
    throw broken(file, new Error(why));
  };
  return {
    add(path, { type }) {
      if (types.has(path)) refuse(`${path} is in it twice`);
      if (!mayHold(path)) refuse(`no backup holds ${path}`);
      if (type === "link" && (!path.startsWith("workspace/") || path === "workspace/.sessions"))
        refuse(`${path} is a link`);
      if (type !== "folder" && parents.has(path)) refuse(`${path} is a ${type} with something below it`);
      types.set(path, type);
      for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
        const parent = path.slice(0, at);
        const above = types.get(parent);
        if (above !== undefined && above !== "folder") refuse(`${path} is below a ${above}`);
        parents.add(parent);
      }
    },
  };
}

function checked(
  file: string,
  value: unknown,
  found: ReadonlyMap<string, { readonly bytes: number; readonly sha256: string }>,
  others: readonly string[],
): Manifest {
  if (value === undefined) throw broken(file, new Error("its manifest is missing"));
  const version = typeof value === "object" && value !== null && "version" in value ? Number(value.version) : 0;
  if (version > backupVersion)
    throw new EngineError(`${file} was made by a newer maxclaw: update this one first. Nothing was changed.`, {
      kind: "corrupt",
    });
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) throw broken(file, new Error("its manifest is not valid"));
  const { files } = parsed.data;
  for (const { path, bytes, sha256 } of files) {
    const there = found.get(path);
    if (there?.bytes !== bytes || there.sha256 !== sha256)
      throw broken(file, new Error(`${path} is not the same as when the backup was made`));
  }
  if (files.length !== found.size) throw broken(file, new Error("it holds files that are not in its manifest"));
  const named = parsed.data.others?.map(nameOf) ?? others;
  if (named.join("\n") !== others.join("\n"))
    throw broken(file, new Error("its folders and links are not the same as when the backup was made"));
  return parsed.data;
}

function nameOf({ path, type, target }: { path: string; type: string; target?: string | undefined }): string {
  return JSON.stringify([path, type, type === "link" ? target : undefined]);
}

/**
 * Writes these files of an inspected archive, and its folders and links, into two folders of which neither holds anything that is in
 * the way. Links are made last, so that nothing is written through one.
 */
export async function extractBackup(
  file: string,
  files: Manifest["files"],
  into: { readonly home: string; readonly workspace: string },
  signal: AbortSignal,
): Promise<void> {
  const expected = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  const links: { readonly path: string; readonly target: string }[] = [];
  await readArchive(
    file,
    async (entry, content) => {
      const path = entry.path === manifestPath ? undefined : pathOf(file, entry);
      if (path === undefined) return;
      const target = targetOf(path, into);
      if (entry.type === "folder") await makeFolder(target, (entry.mode & 0o777) | 0o700);
      if (entry.type === "link") links.push({ path: target, target: entry.target ?? "" });
      if (entry.type !== "file" || !expected.has(path)) return;
      const sha256 = await writeContent(target, entry, content);
      if (sha256 !== expected.get(path)) throw broken(file, new Error(`${path} has changed while it was read`));
    },
    signal,
  );
  for (const { path, target } of links) {
    await makeFolder(dirname(path));
    await symlink(target, path);
  }
}

function targetOf(path: string, into: { readonly home: string; readonly workspace: string }): string {
  const [root, ...rest] = path.split("/");
  return join(root === "home" ? into.home : into.workspace, ...rest);
}

async function writeContent(path: string, entry: TarEntry, content: AsyncIterable<Buffer>): Promise<string> {
  await makeFolder(dirname(path));
  const hash = createHash("sha256");
  const handle = await open(path, "wx", (entry.mode & 0o777) | 0o600);
  try {
    for await (const piece of content) {
      hash.update(piece);
      await handle.writeFile(piece);
    }
    await handle.utimes(entry.modifiedAt / 1000, entry.modifiedAt / 1000);
  } finally {
    await handle.close();
  }
  return hash.digest("hex");
}

/** `home/…` or `workspace/…`; undefined for the folder that holds both. */
function pathOf(file: string, { path, type }: TarEntry): string | undefined {
  if (path === archiveRoot && type === "folder") return undefined;
  const [root, ...parts] = path.split("/");
  const isBelow = root === archiveRoot && (parts[0] === "home" || parts[0] === "workspace");
  const isPlain = parts.every((part) => part !== "" && part !== "." && part !== ".." && !/[\0\\]/.test(part));
  if (!isBelow || !isPlain || (parts.length === 1 && type !== "folder"))
    throw broken(file, new Error(`it has an entry ${JSON.stringify(path.slice(0, 200))}`));
  return parts.join("/");
}

async function readWhole(entry: TarEntry, content: AsyncIterable<Buffer>, most: number, file: string): Promise<Buffer> {
  if (entry.bytes > most) throw broken(file, new Error("its manifest is too long"));
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw broken(file, error);
  }
}

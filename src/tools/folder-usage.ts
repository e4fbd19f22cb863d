import type { Dirent } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import path from "node:path";
import { keptFolderOf } from "../policy/locations/zones.js";
import { isGone } from "../util/error-code.js";

/** What a session's folder may hold. */
export interface FolderLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export interface FolderUsage {
  /** As they take up the disk. */
  readonly bytes: number;
  /** Folders count as well. */
  readonly files: number;
  /** A folder that could not be looked into, because it is locked or lies too deep: nobody knows what it holds. */
  readonly closed: string | undefined;
}

/** Says for a session's own folder why nothing more may be kept for that session, as the end of a sentence. */
export type WhyFull = (folder: string) => Promise<string | undefined>;

/** What a session's people, its model and the gateway keep counts together. */
export function createWhyFull(limits: FolderLimits): WhyFull {
  return async (folder) => excessOf(await usageOf([folder, keptFolderOf(folder)], limits), limits);
}

const atOnce = 64;

/** Adds up what lies in folders, and stops looking where more was found than `upTo`. Follows no links. */
export async function usageOf(folders: readonly string[], upTo: FolderLimits): Promise<FolderUsage> {
  const counted = { bytes: 0, files: 0, closed: undefined as string | undefined };
  const seen = new Set<string>();
  const isEnough = (): boolean => counted.bytes > upTo.maxBytes || counted.files > upTo.maxFiles;
  const add = async (full: string): Promise<void> => {
    const stats = await lstat(full).catch((error: unknown) => {
      // A path that is too long is there all the same.
      if (!isGone(error)) counted.closed ??= path.dirname(full);
      return undefined;
    });
    if (stats === undefined) return;
    // A file with many names takes up its place once.
    if (stats.nlink > 1 && !stats.isDirectory()) {
      const id = `${stats.dev} ${stats.ino}`;
      if (seen.has(id)) return;
      seen.add(id);
    }
    counted.files += 1;
    counted.bytes += stats.blocks * 512;
  };
  const waiting = [...folders];
  for (let folder = waiting.pop(); folder !== undefined && !isEnough(); folder = waiting.pop()) {
    try {
      let batch: Dirent[] = [];
      const count = async (): Promise<void> => {
        await Promise.all(batch.map((entry) => add(path.join(entry.parentPath, entry.name))));
        batch = [];
      };
      // Piece by piece, because a folder may hold millions.
      for await (const entry of await opendir(folder, { bufferSize: 256 })) {
        batch.push(entry);
        if (entry.isDirectory()) waiting.push(path.join(folder, entry.name));
        if (batch.length >= atOnce) await count();
        if (isEnough()) break;
      }
      await count();
    } catch (error) {
      if (!isGone(error)) counted.closed ??= folder;
    }
  }
  return counted;
}

/** What is wrong with a folder that holds so much, as the end of a sentence; undefined while it is below its limits. */
export function excessOf(usage: FolderUsage, limits: FolderLimits): string | undefined {
  if (usage.closed !== undefined)
    return `holds a folder that cannot be looked into (${path.basename(usage.closed).slice(0, 60)}): make it readable or delete it`;
  if (usage.bytes > limits.maxBytes) return `holds more than its limit of ${sizeText(limits.maxBytes)}`;
  if (usage.files > limits.maxFiles) return `holds more than its limit of ${limits.maxFiles} files`;
  return undefined;
}

function sizeText(bytes: number): string {
  const mb = bytes / 1024 ** 2;
  return mb < 1000 ? `${mb.toFixed(mb < 10 ? 1 : 0)} MB` : `${(mb / 1024).toFixed(1)} GB`;
}

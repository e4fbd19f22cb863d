import fs from "node:fs";
import { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Random } from "../random.js";

/** What is known about a file's bytes on the disk itself; undefined as long as it was never synced. */
interface FileState {
  synced: Buffer | undefined;
  /** Which of all syncs that was, in the order in which they began: an earlier one that ends later takes nothing back. */
  syncedBy: number;
}

/**
 * A folder on a disk that remembers what was synced. `kill` and `cut` make copies of it as a process leaves it that is
 * killed, and as a power cut may leave it: whatever was not synced is there, in part, garbled, or not at all.
 */
export interface FragileDisk {
  readonly root: string;
  /** The same files elsewhere: what was not synced still is not. */
  kill(): FragileDisk;
  /** A folder with what the disk may hold after a power cut. */
  cut(random: Random): string;
}

/**
 * Makes this process's syncs known to {@link FragileDisk}s. To be called before anything is imported that keeps
 * `fdatasync` for itself. Syncs take a moment and do not reach the real disk. `onSync` is called as one begins and ends.
 */
export async function watchSyncs(
  random: Random,
): Promise<{ openDisk(): FragileDisk; onSync: (disk: FragileDisk) => void; removeAll(): void }> {
  const disks: Disk[] = [];
  const watch = {
    openDisk: (): FragileDisk => new Disk(fs.mkdtempSync(join(tmpdir(), "maxclaw-disk-")), disks),
    onSync: (_disk: FragileDisk): void => {},
    removeAll(): void {
      for (const disk of disks) disk.remove();
    },
  };
  const begin = (fd: number): (() => void) => {
    const path = fs.readlinkSync(`/proc/self/fd/${fd}`);
    const disk = disks.find(({ root }) => path === root || path.startsWith(`${root}/`));
    if (disk === undefined) return () => {};
    const end = disk.sync(fd, path);
    watch.onSync(disk);
    return () => {
      end();
      watch.onSync(disk);
    };
  };
  const later = (fd: number, done: () => void): void => {
    const end = begin(fd);
    const finish = (): void => {
      end();
      done();
    };
    if (random() < 0.5) setImmediate(finish);
    else setTimeout(finish, random() * 3);
  };
  const now = (fd: number): void => begin(fd)();
  const handle = await open(tmpdir(), "r");
  const prototype: unknown = Object.getPrototypeOf(handle);
  await handle.close();
  const asHandle = function (this: { readonly fd: number }): Promise<void> {
    return new Promise((resolve) => later(this.fd, resolve));
  };
  Object.assign(prototype as object, { sync: asHandle, datasync: asHandle });
  const asCall = (fd: number, done: (error: null) => void): void => later(fd, () => done(null));
  const patched = { fdatasync: asCall, fsync: asCall, fdatasyncSync: now, fsyncSync: now };
  Object.assign(fs, patched);
  syncBuiltinESMExports();
  return watch;
}

class Disk implements FragileDisk {
  readonly root: string;
  readonly #all: Disk[];
  readonly #images: string[] = [];
  /** By inode. */
  readonly #files = new Map<string, FileState>();
  /** What each folder is known to hold, by path from the root. */
  readonly #folders = new Map<string, Map<string, FileState | "folder">>();
  readonly #foldersBy = new Map<string, number>();
  #begun = 0;

  constructor(root: string, all: Disk[]) {
    this.root = root;
    this.#all = all;
    this.#folders.set("", new Map());
    all.push(this);
  }

  remove(): void {
    for (const folder of [this.root, ...this.#images]) fs.rmSync(folder, { recursive: true, force: true });
  }

  /** Notes what is on its way to the disk, and gives what is to be called once it is there. */
  sync(fd: number, path: string): () => void {
    const name = relative(this.root, path);
    this.#begun += 1;
    const by = this.#begun;
    if (!fs.fstatSync(fd).isDirectory()) {
      const state = this.#stateOf(fs.fstatSync(fd, { bigint: true }));
      const bytes = fs.readFileSync(`/proc/self/fd/${fd}`);
      return () => {
        if (by > state.syncedBy) Object.assign(state, { synced: bytes, syncedBy: by });
      };
    }
    const entries = this.#entriesOf(path);
    return () => {
      if (by < (this.#foldersBy.get(name) ?? 0)) return;
      this.#foldersBy.set(name, by);
      this.#folders.set(name, entries);
    };
  }

  kill(): FragileDisk {
    const copy = new Disk(fs.mkdtempSync(join(tmpdir(), "maxclaw-disk-")), this.#all);
    fs.cpSync(this.root, copy.root, { recursive: true });
    const twins = new Map<FileState, FileState>();
    for (const path of filesBelow(this.root)) {
      const state = this.#stateOf(fs.statSync(join(this.root, path), { bigint: true }));
      const twin = copy.#stateOf(fs.statSync(join(copy.root, path), { bigint: true }));
      twin.synced = state.synced;
      twins.set(state, twin);
    }
    for (const [folder, entries] of this.#folders) {
      const known = [...entries].map(
        ([name, entry]) => [name, entry === "folder" ? entry : (twins.get(entry) ?? { ...entry })] as const,
      );
      copy.#folders.set(folder, new Map(known));
    }
    return copy;
  }

  cut(random: Random): string {
    const target = fs.mkdtempSync(join(tmpdir(), "maxclaw-cut-"));
    this.#images.push(target);
    this.#cutFolder("", target, random);
    return target;
  }

  #cutFolder(folder: string, target: string, random: Random): void {
    const path = join(this.root, folder);
    const current = fs.existsSync(path) ? this.#entriesOf(path) : new Map<string, FileState | "folder">();
    const known = this.#folders.get(folder) ?? new Map<string, FileState | "folder">();
    for (const name of new Set([...known.keys(), ...current.keys()])) {
      const [before, after] = [known.get(name), current.get(name)];
      const entry = before === after || random() < 0.5 ? before : after;
      if (entry === undefined) continue;
      const inner = join(folder, name);
      if (entry === "folder") {
        fs.mkdirSync(join(target, inner));
        this.#cutFolder(inner, target, random);
      } else {
        const bytes = entry === after ? fs.readFileSync(join(path, name)) : undefined;
        fs.writeFileSync(join(target, inner), remainder(entry.synced, bytes, random));
      }
    }
  }

  #entriesOf(path: string): Map<string, FileState | "folder"> {
    const entries = new Map<string, FileState | "folder">();
    for (const name of fs.readdirSync(path)) {
      const stat = fs.statSync(join(path, name), { bigint: true });
      entries.set(name, stat.isDirectory() ? "folder" : this.#stateOf(stat));
    }
    return entries;
  }

  #stateOf({ ino, birthtimeNs }: { readonly ino: bigint; readonly birthtimeNs: bigint }): FileState {
    const id = `${ino} ${birthtimeNs}`;
    const known = this.#files.get(id);
    if (known !== undefined) return known;
    const state: FileState = { synced: undefined, syncedBy: 0 };
    this.#files.set(id, state);
    return state;
  }
}

/** What of a file may be on the disk: what was synced, and of the rest anything. */
function remainder(synced: Buffer | undefined, current: Buffer | undefined, random: Random): Buffer {
  const safe = synced ?? Buffer.alloc(0);
  if (current === undefined || random() < 0.3) return safe;
  if (!current.subarray(0, safe.length).equals(safe)) return random() < 0.5 ? safe : current;
  const rest = Buffer.from(
    current.subarray(safe.length, safe.length + Math.ceil(random() * (current.length - safe.length))),
  );
  const kind = random();
  const from = Math.floor(random() * rest.length);
  if (kind < 0.3) rest.fill(0, from, from + Math.ceil(random() * (rest.length - from)));
  else if (kind < 0.5) for (let at = from; at < rest.length; at += 7) rest[at] = Math.floor(random() * 256);
  return Buffer.concat([safe, rest]);
}

function filesBelow(root: string): readonly string[] {
  return fs
    .readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

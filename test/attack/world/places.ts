import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, sep } from "node:path";
import { type Chat, letIn, type Person } from "./people.js";

/** What a file in the home is, as far as it matters who reads it. */
export type Place =
  /** Config, secrets, journal, logs, conversations: no tool and no chat sees it. */
  | { readonly kind: "gateway" }
  /** What the assistant is told by. */
  | { readonly kind: "steering"; readonly readers: readonly Person[] }
  /** The owner's memory. */
  | { readonly kind: "memory"; readonly readers: readonly Person[] }
  | { readonly kind: "session"; readonly readers: readonly Person[] }
  | { readonly kind: "workspace"; readonly readers: readonly Person[] };

const steering = /^(AGENTS|CLAUDE|SOUL|USER|GUESTS)\.md$/i;

/** `file` is relative to the home, whose workspace is `workspace`. */
export function placeOf(file: string, chats: readonly Chat[]): Place {
  const [first, second = "", third = "", ...rest] = file.split(sep);
  if (first !== "workspace") return { kind: "gateway" };
  if (second === ".sessions") {
    const [folder, isFolder] = third === ".kept" ? [rest[0], rest.length > 1] : [third, rest.length > 0];
    const chat = chats.find(({ key }) => key.replaceAll(":", "_") === folder);
    if (!isFolder || chat === undefined) return { kind: "gateway" };
    return { kind: "session", readers: chat.members };
  }
  if (second === ".skills_state.json") return { kind: "steering", readers: letIn };
  if (second.startsWith(".")) return { kind: "gateway" };
  if (second === "memory") return { kind: "memory", readers: ["owner"] };
  if (second === "skills") return { kind: "steering", readers: letIn };
  if (steering.test(second)) return { kind: "steering", readers: /^(GUESTS|SOUL)/i.test(second) ? letIn : ["owner"] };
  return { kind: "workspace", readers: letIn };
}

const maxBytes = 4 * 1024 * 1024;

/** All regular files below a folder, relative to it. Nothing is followed, and nothing is waited for. */
export function filesBelow(root: string, folder = ""): readonly string[] {
  const entries = tried(() => readdirSync(join(root, folder), { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const name = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(root, name);
    return entry.isFile() ? [name] : [];
  });
}

/** The text of a regular file that is not too large, and that is there itself: folders and links are exchanged meanwhile. */
export function textOf(path: string): string {
  return tried(() => readItself(path)) ?? "";
}

function readItself(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    const isIt = stats.isFile() && readlinkSync(`/proc/self/fd/${fd}`) === path;
    return isIt && stats.size <= maxBytes ? readFileSync(fd, "latin1") : "";
  } finally {
    closeSync(fd);
  }
}

function tried<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** One file that was written, made or removed. */
export interface Change {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/** Looks at what lies in the workspace and the config, and says what has changed since the last look. */
export class Watch {
  readonly #home: string;
  #known = new Map<string, { readonly digest: string; readonly text: string }>();

  constructor(home: string) {
    this.#home = home;
    this.changes();
  }

  changes(): readonly Change[] {
    const now = new Map<string, { readonly digest: string; readonly text: string }>();
    for (const file of this.#files()) {
      const text = textOf(join(this.#home, file));
      now.set(file, { text, digest: createHash("sha256").update(text).digest("hex") });
    }
    const before = this.#known;
    this.#known = now;
    return [...new Set([...before.keys(), ...now.keys()])].flatMap((file) => {
      const [old, young] = [before.get(file), now.get(file)];
      return old?.digest === young?.digest ? [] : [{ file, before: old?.text ?? "", after: young?.text ?? "" }];
    });
  }

  #files(): readonly string[] {
    const workspace = join(this.#home, "workspace");
    const top = tried(() => readdirSync(workspace)) ?? [];
    const seen = top.filter((name) => !name.startsWith(".") || name === ".skills_state.json");
    const inWorkspace = seen.flatMap((name) => {
      const isFolder = tried(() => lstatSync(join(workspace, name)))?.isDirectory() === true;
      return isFolder ? filesBelow(workspace, name) : [name];
    });
    return ["config.json", "secrets.json", ...inWorkspace.map((name) => join("workspace", name))];
  }
}

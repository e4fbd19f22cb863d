import path from "node:path";
import { isInside } from "../../policy/locations/paths.js";
import { keptFolderOf, keptNames } from "../../policy/locations/zones.js";
import { type Resolution, resolveReal } from "../../util/files/real-path.js";
import { namesOf } from "../../util/text/untrusted.js";
import { failed, type ToolContext, type ToolResult } from "../tool.js";
import { receivedAs, receivedNote } from "./received.js";

/** A path that policy has allowed. */
export interface Location {
  /** Absolute, every link followed. */
  readonly path: string;
  readonly exists: boolean;
  /** As the model wrote it. */
  readonly shown: string;
  /** For the model, when the path was not found in the session's folder but elsewhere. */
  readonly note?: string;
  /** Where its content came from when others wrote it. */
  readonly outside?: string | undefined;
  /** In the session's own folder, where commands make files: none with a second name is read. */
  readonly isOwn: boolean;
}

type Resolved = Extract<Resolution, { ok: true }>;

export type Located =
  | { readonly ok: true; readonly location: Location }
  | { readonly ok: false; readonly result: ToolResult };

/**
 * Finds what a path of the model means: relative ones start in the session's folder; for reading, one that is not
 * there but among what the gateway keeps of the session, the name of a file that was sent in this chat, or in the workspace,
 * means that one. Policy is asked before
 * anything is said about what exists. Whatever is done with the place makes sure that it is still the one that was judged.
 */
export async function locate(input: string, kind: "read" | "write", context: ToolContext): Promise<Located> {
  const shown = input.trim();
  if (shown === "" || shown === "~" || shown.startsWith("~/")) {
    return no("Give a path relative to the chat's own folder, or an absolute path in the workspace.");
  }
  const [first = ""] = path.normalize(shown).split(path.sep);
  if (
    kind === "write" &&
    keptNames.has(first) &&
    !(await resolveReal(path.resolve(context.folder, first)).then(isThere))
  )
    return no(`${first} is where I keep files for this chat. Write into another folder.`);
  const folder = await resolveReal(context.folder);
  const found = async ({ path: real, exists }: Resolved, note?: string): Promise<Located> => {
    const isOwn = folder.ok && isInside(folder.path, real);
    const outside = await context.files.outsideOf(real);
    return {
      ok: true,
      location: { path: real, exists, shown, outside, isOwn, ...(note === undefined ? {} : { note }) },
    };
  };
  const own = await allowed(path.resolve(context.folder, shown), kind, context);
  if (!own.ok) return no(own.sentence);
  if (own.exists || path.isAbsolute(shown) || kind === "write") return await found(own);

  if (keptNames.has(first)) {
    const kept = await allowed(path.resolve(keptFolderOf(context.folder), shown), kind, context);
    if (kept.ok && kept.exists) return await found(kept);
  }
  const received = await receivedAs(shown, context);
  if (received[0] !== undefined) {
    const sent = await allowed(received[0].path, kind, context);
    if (sent.ok && sent.exists) return await found(sent, receivedNote(received));
  }
  const shared = await resolveReal(path.resolve(context.files.workspace, shown));
  if (!shared.ok || !shared.exists) return await found(own);
  const sentence = await context.permit({ kind, path: shared.path });
  return sentence === undefined ? await found(shared, `[from the workspace: ${shared.path}]`) : no(sentence);
}

/** The same for a folder to search; the session's own may not be there yet. */
export async function locateFolder(input: string, context: ToolContext): Promise<Located> {
  const located = await locate(input, "read", context);
  if (!located.ok || located.location.exists) return located;
  const { shown } = located.location;
  const isOwn = path.resolve(context.folder, shown) === path.resolve(context.folder);
  return isOwn ? located : no(`${shown} does not exist.`);
}

/** Where else to look when the session's own folder has nothing. */
export function workspaceHint(
  { shown, note }: Location,
  { folder, files }: Pick<ToolContext, "folder" | "files">,
): readonly string[] {
  const isOwn = note === undefined && path.resolve(folder, shown) === path.resolve(folder);
  return isOwn ? [`[workspace: ${files.workspace}]`] : [];
}

/** For the result of a tool that shows what is at a location. */
export function outsideOf({ outside }: Location): { readonly outside?: string } {
  return outside === undefined ? {} : { outside };
}

/** For the result of a tool that shows names, or texts of several files. */
export function namesOutside(origins: ReadonlySet<string>): { readonly outside?: string } {
  return origins.size === 0 ? {} : { outside: namesOf([...origins]) };
}

/** The refusal to write in the session's own folder while too much is there. */
export async function noRoomFor({ isOwn, shown }: Location, context: ToolContext): Promise<ToolResult | undefined> {
  const why = isOwn ? await context.files.whyFull() : undefined;
  return why === undefined
    ? undefined
    : failed(`${shown} was not written: this chat's folder ${why}. Delete files first.`);
}

async function allowed(absolute: string, kind: "read" | "write", context: ToolContext): Promise<Resolution> {
  const resolution = await resolveReal(absolute);
  if (!resolution.ok) return resolution;
  const sentence = await context.permit({ kind, path: resolution.path });
  return sentence === undefined ? resolution : { ok: false, sentence };
}

function isThere(resolution: Resolution): boolean {
  return resolution.ok && resolution.exists;
}

function no(sentence: string): Located {
  return { ok: false, result: failed(sentence) };
}

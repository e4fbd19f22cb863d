import path from "node:path";
import { FolderLabels, isBelow, type RunMark, type Writing } from "./folder-labels.js";

export interface LabelsOptions {
  /** A session's own folder and what the gateway keeps beside it, as real paths. */
  readonly foldersOf: (folder: string) => { readonly own: string; readonly kept: string };
  /** Where the labels of all files that no session owns are kept. */
  readonly sharedFile: string;
  /** Says for files that grow by passages whether others have a say in some of them. */
  readonly foreignTexts: () => Promise<(target: string) => boolean>;
  readonly now: () => number;
}

/** What the gateway knows about where files came from. It is kept beside the files, where no tool can write. */
export interface Labels {
  /** What is foreign about a file; `folder` is the session's that asks, undefined for what no session owns. */
  outsideOf(target: string, folder: string | undefined, of?: "content" | "name"): Promise<string | undefined>;
  /** To be called, and waited for, before something foreign is written there. */
  write(target: string, folder: string): Promise<Writing>;
  /** Whether the file lies where only this session's turns and commands write. */
  isOwn(target: string, folder: string): boolean;
  startRun(sources: readonly string[], folder: string): Promise<RunMark>;
  /** Foreign files that commands of this session must not see: nobody could remove them to get clean results again. */
  hiddenFrom(folder: string): Promise<(target: string) => boolean>;
  /** The session and its folder are gone. */
  forget(folder: string): void;
}

const maxFolders = 300;
const fileName = "labels.jsonl";

export function createLabels({ foldersOf, sharedFile, foreignTexts, now }: LabelsOptions): Labels {
  const shared = new FolderLabels({ file: sharedFile, now });
  const folders = new Map<string, FolderLabels>();

  const of = (folder: string): FolderLabels => {
    const { own, kept } = foldersOf(folder);
    const known = folders.get(own);
    if (known !== undefined) return known;
    for (const [name, one] of folders) if (folders.size >= maxFolders && one.isIdle) folders.delete(name);
    const fresh = new FolderLabels({ file: path.join(kept, fileName), root: own, now });
    folders.set(own, fresh);
    return fresh;
  };

  const storeOf = (target: string, folder: string | undefined): FolderLabels => {
    if (folder === undefined) return shared;
    const { own, kept } = foldersOf(folder);
    return [own, kept].some((root) => isBelow(root, target)) ? of(folder) : shared;
  };

  return {
    async outsideOf(target, folder, of = "content") {
      // The gateway itself names such files.
      if (of === "content" && (await foreignTexts())(target)) return `the file ${path.basename(target)}`;
      return await storeOf(target, folder).outsideOf(target);
    },
    write: (target, folder) => storeOf(target, folder).write(target),
    isOwn: (target, folder) => storeOf(target, folder) !== shared,
    startRun: (sources, folder) => of(folder).startRun(sources),
    async hiddenFrom(folder) {
      const stores = [shared.foreignPaths(), of(folder).foreignPaths(), foreignTexts()];
      const all = await Promise.all(stores);
      return (target) => all.some((isForeign) => isForeign(target));
    },
    forget: (folder) => void folders.delete(foldersOf(folder).own),
  };
}

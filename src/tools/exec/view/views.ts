import path from "node:path";
import type { Zones } from "../../../policy/locations/zones.js";
import type { Surveyor } from "./survey.js";
import { type TreeRoot, ViewTree } from "./tree.js";
import { type View, type ViewOptions, viewOf } from "./view.js";

/** Trees that nobody uses and that are kept for the next command. */
const maxFree = 2;
/** The one who judged what is in a tree is asked again while a command runs, for so much of the time at most. */
const maxShare = 0.02;

/** The view of one command that runs. */
export interface HeldView {
  readonly view: View;
  /** Files of the workspace that could not be shown, and folders with too much in them. */
  readonly leftOut: readonly string[];
  /** Looks again when that is due: what has come is judged for this command, what has gone disappears. */
  refresh(): Promise<void>;
  /** To be called when the command has ended. */
  release(): void;
}

export interface ViewsOptions {
  readonly zones: Pick<Zones, "zoneOf">;
  readonly surveyor: Surveyor;
  /** For the trees; nobody else may use it. */
  readonly folder: string;
  /** While a command runs, the view is brought up to date so often at most. */
  readonly refreshMs: number;
}

/**
 * The views of one terminal. No two commands that run share one: what a later command may read, because an owner
 * speaks or a file was named, an earlier one in the background does not get to see.
 */
export class Views {
  readonly #options: ViewsOptions;
  readonly #free: ViewTree[] = [];
  readonly #last = new Map<ViewTree, Promise<unknown>>();
  #made = 0;

  constructor(options: ViewsOptions) {
    this.#options = options;
  }

  /** Undefined when the session's folder is not what it should be. `hasMounts`: the sandbox can use a tree. */
  async hold(options: ViewOptions, hasMounts: boolean): Promise<HeldView | undefined> {
    const { zones, surveyor } = this.#options;
    const view = await viewOf(options, zones, surveyor);
    if (view === undefined) return undefined;
    if (!hasMounts) return { view, leftOut: view.shown.tooLarge, refresh: async () => undefined, release() {} };
    const tree = this.#free.pop() ?? this.#makeTree();
    try {
      const copies = await tree.update(withMountPoints(view), rootsOf(view));
      const leftOut = [...view.shown.tooLarge, ...copies.map((file) => path.relative(view.workspace, file))];
      return this.#held({ ...view, tree: tree.root }, leftOut, tree, options);
    } catch (error) {
      void tree.remove().catch(() => undefined);
      throw error;
    }
  }

  /** Removes the trees. No command runs any more. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#last.values());
    await Promise.allSettled(this.#free.splice(0).map((tree) => tree.remove()));
  }

  #makeTree(): ViewTree {
    this.#made += 1;
    return new ViewTree(path.join(this.#options.folder, `view-${this.#made}`));
  }

  #held(view: View, leftOut: readonly string[], tree: ViewTree, options: ViewOptions): HeldView {
    const { zones, surveyor, refreshMs } = this.#options;
    let isOver = false;
    let dueAt = Date.now() + refreshMs;
    const look = async (): Promise<void> => {
      const begun = performance.now();
      // What comes from others while it runs would not be known to come from them.
      const received = view.showsReceived || options.received === "none" ? options.received : "own";
      const now = await viewOf({ ...options, received }, zones, surveyor);
      if (isOver || now === undefined) return;
      await tree.update(withMountPoints(now), rootsOf(now));
      dueAt = Date.now() + Math.max(refreshMs, (performance.now() - begun) / maxShare);
    };
    return {
      view,
      leftOut,
      refresh: async () => {
        if (isOver || Date.now() < dueAt) return;
        dueAt = Number.POSITIVE_INFINITY;
        const looking = look();
        this.#last.set(tree, looking);
        await looking;
      },
      release: () => {
        if (isOver) return;
        isOver = true;
        void this.#takeBack(tree);
      },
    };
  }

  async #takeBack(tree: ViewTree): Promise<void> {
    const failed = await (this.#last.get(tree) ?? Promise.resolve()).then(
      () => false,
      () => true,
    );
    this.#last.delete(tree);
    if (!failed && this.#free.length < maxFree) return void this.#free.push(tree);
    const removed = tree.remove().catch(() => undefined);
    this.#last.set(tree, removed);
    await removed;
    this.#last.delete(tree);
  }
}

function rootsOf({ workspace, kept }: View): readonly TreeRoot[] {
  return [
    { name: "kept", folder: kept },
    { name: "workspace", folder: workspace },
  ];
}

/** With the folders onto which the own and the kept folder are put. */
function withMountPoints({ shown, workspace, folder, kept }: View): View["shown"] {
  const above = [folder, kept].flatMap((target) => parentsIn(workspace, target));
  return { ...shown, folders: [...new Set([...above, ...shown.folders])] };
}

function parentsIn(root: string, target: string): readonly string[] {
  const relative = path.relative(root, target);
  if (relative === "" || relative.startsWith("..")) return [];
  const names = relative.split(path.sep);
  return names.map((_, index) => path.join(root, ...names.slice(0, index + 1)));
}

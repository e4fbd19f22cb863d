import type { View } from "../view/view.js";

/** How a command is started. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** Written to {@link argsFd}, so that no list of places is too long for a command line. */
  readonly moreArgs?: string | undefined;
  /** Written to {@link filterFd}: which calls of the kernel the command may make. */
  readonly filter?: Buffer | undefined;
  /** Variables that hold for the first command. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** May be removed when the command has ended. */
  readonly scratchFile?: string | undefined;
}

/** Where a launcher reads further arguments. */
export const argsFd = 5;
/** Where it reads a filter of calls. */
export const filterFd = 6;

/** Private to a terminal. */
export interface TempFolders {
  /** No command sees it, and those below lie in it. */
  readonly hidden: string;
  /** What commands have as `/tmp`. */
  readonly shown: string;
  /** What they have as `/dev/shm`, which would be memory otherwise. */
  readonly memory: string;
}

/** One way to confine commands on one system. */
export interface Confinement {
  /** As people call it, e.g. `bubblewrap`. */
  readonly name: string;
  /**
   * What a command starts is a world of its own: it ends with the process that was launched, and with the gateway, and
   * only it counts for limits of the user.
   */
  readonly hasOwnProcesses: boolean;
  /** It can put a tree of ours in place of the workspace; else it names each file that can be read. */
  readonly hasMounts: boolean;
  /**
   * `command` sees the view, has the folders of `temp` for its temporary files, and has a network only when it is given
   * one.
   *
   * @throws when the places cannot be named to the sandbox
   */
  launch(
    command: readonly [file: string, ...args: string[]],
    options: { readonly view: View; readonly temp: TempFolders; readonly network: boolean },
  ): Launch;
}

/** The result of trying the sandbox. */
export type SandboxState =
  /** Nobody has asked for it yet, or the trial runs. */
  | { readonly state: "checking" }
  | { readonly state: "ready"; readonly name: string }
  /** `reason`: one sentence for people, with what to do. */
  | { readonly state: "unavailable"; readonly reason: string }
  /** Switched off in the config. */
  | { readonly state: "off" };

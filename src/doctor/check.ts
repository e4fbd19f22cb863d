import type { LoadedConfig } from "../config/load.js";
import type { Examination } from "../offline/doctor.js";
import type { ProviderAnswers } from "./provider-answers.js";

/** `warn`: it works, but somebody should look. `fail`: it does not work, or is not safe. */
export type Level = "ok" | "warn" | "fail";

/** What a check has found, for a person. It may hold secrets: they are masked before anybody sees it. */
export interface Finding {
  readonly level: Level;
  /** One sentence without its end. */
  readonly found: string;
  /** What to do, as an order or a command. */
  readonly todo?: string | undefined;
  readonly fix?: Fix | undefined;
}

/** What `--fix` does about a finding. */
export interface Fix {
  /** E.g. `chmod 700 /home/ada/.maxclaw`. */
  readonly does: string;
  /** @throws when it could not be done */
  apply(): Promise<void>;
}

/** Looks at one thing and changes nothing. Checks run at the same time. */
export interface Check {
  /** A word or two, as people see it. */
  readonly name: string;
  /** Asks services elsewhere, or starts programs. Left out with `--offline`. */
  readonly isLive?: true;
  /** Judges what is in the config: says nothing where the config cannot be read. */
  readonly readsConfig?: true;
  /** An answer that takes longer is a finding. Default 20 s. */
  readonly limitMs?: number;
  /** May throw: that is a finding too. Without findings there is nothing to look at. */
  run(world: World, signal: AbortSignal): Promise<readonly Finding[]>;
}

/** The gateway of this home, as a command sees it. */
export type GatewayView =
  | { readonly state: "none" }
  /** It holds the home, and does not answer properly. */
  | { readonly state: "silent"; readonly why: string }
  | {
      readonly state: "running";
      readonly pid: number;
      readonly address: string;
      readonly version: string;
      readonly problems: readonly string[];
      /** Settings that the file has and that count from the next start on; undefined where it does not say. */
      readonly pending: readonly string[] | undefined;
    };

/** What checks look at. */
export interface World {
  readonly home: string;
  /** Of this program. */
  readonly version: string;
  readonly loaded: LoadedConfig;
  readonly gateway: GatewayView;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Looks through journal and logs; a gateway that runs keeps them still meanwhile. */
  readonly examine: (signal: AbortSignal) => Promise<Examination>;
  /** What each configured provider answered, asked once. */
  readonly providers: ProviderAnswers;
  /** Problems and lines of a service that is installed; undefined without one, `impossible` where there can be none. */
  readonly service: (
    signal: AbortSignal,
  ) => Promise<{ readonly line: string; readonly problems: readonly string[] } | "impossible" | undefined>;
  /** The model is asked for a real answer, which may cost something. */
  readonly asksModel: boolean;
  /** Unix ms. */
  readonly now: () => number;
  /** Where backups are looked for, besides the one that the home remembers. */
  readonly backupFolders: readonly string[];
}

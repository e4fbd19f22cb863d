import { Fault, type FaultOptions } from "../errors.js";

/** Whose services: of the account that is logged in, or of the machine. */
export type ServiceScope = "user" | "system";

/** What a service runs, and as whom. All paths are absolute. */
export interface ServicePlan {
  readonly home: string;
  /** Node, our program, and its arguments. */
  readonly program: readonly [file: string, ...args: string[]];
  /** Variables besides those that the system gives it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The account of a system service; absent for one of a user. */
  readonly account?: string | undefined;
  /** Folders besides the home that it writes to. */
  readonly writable: readonly string[];
}

export interface ServiceStatus {
  readonly isInstalled: boolean;
  readonly isRunning: boolean;
  /** For people, one line each. */
  readonly lines: readonly string[];
  /** What its owner should know, with what to do. */
  readonly problems: readonly string[];
}

/** The one service of a name, kept by the system's own manager of services. All methods throw {@link ServiceError}. */
export interface ServiceManager {
  readonly kind: "systemd" | "launchd";
  readonly scope: ServiceScope;
  /** Where the service is written down. */
  readonly file: string;
  /** The home that the installed service runs with; undefined where none of ours is installed. */
  installedHome(): Promise<string | undefined>;
  /** Writes the service and switches it on, also for the next start of the machine. Resolves with what to do besides. */
  install(plan: ServicePlan, options: InstallOptions): Promise<readonly string[]>;
  /** Stops it and removes what {@link install} wrote. */
  uninstall(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  restart(): Promise<void>;
  status(): Promise<ServiceStatus>;
  /** The command that shows what the service wrote; undefined where the system keeps nothing. */
  logCommand(options: { readonly follow: boolean; readonly lines: number }): readonly [string, ...string[]] | undefined;
}

export interface InstallOptions {
  /** Replaces a service of another home, or one that we did not write. */
  readonly force: boolean;
  readonly start: boolean;
}

/** A manager of services is not there, or refused something. The message says what to do. */
export class ServiceError extends Fault {
  /** `unavailable`: this machine, or this login, has no such manager. */
  readonly kind: "unavailable" | "refused";

  constructor(message: string, options: FaultOptions & { readonly kind: "unavailable" | "refused" }) {
    super(message, options);
    this.kind = options.kind;
  }
}

export const mark = 'Written by "maxclaw service install".';

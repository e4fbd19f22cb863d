import { join } from "node:path";
import { Launchd } from "./launchd.js";
import { ServiceError, type ServiceManager, type ServiceScope } from "./manager.js";
import type { RunProgram } from "./programs.js";
import { Systemd } from "./systemd.js";

export interface ManagerOptions {
  readonly scope: ServiceScope;
  /** Letters, digits, `-` and `_`. */
  readonly name: string;
  readonly run: RunProgram;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homedir: string;
  readonly user: string;
  readonly uid: number;
  /** What cron can run where there is no manager of services. Default: `maxclaw gateway`. */
  readonly startLine?: string | undefined;
  /** Default: this one. */
  readonly platform?: NodeJS.Platform | undefined;
}

/** What keeps services on this system. @throws {ServiceError} where that is nothing we know */
export function openManager(options: ManagerOptions): ServiceManager {
  const { scope, name, run, env, homedir, user, uid, startLine, platform = process.platform } = options;
  switch (platform) {
    case "linux": {
      const configFolder = env.XDG_CONFIG_HOME || join(homedir, ".config");
      return new Systemd({ scope, name, run, configFolder, user, startLine });
    }
    case "darwin":
      if (scope === "system")
        throw new ServiceError("On a Mac the service belongs to a user. Install it without --system.", {
          kind: "refused",
        });
      return new Launchd({ name, run, homedir, uid });
    default:
      throw new ServiceError(`There is no service for this system (${platform}): systemd and launchd are known.`, {
        kind: "unavailable",
      });
  }
}

/** Where `su` has left it out, systemd of the user is found all the same. */
export function withRuntimeFolder(
  env: Readonly<Record<string, string | undefined>>,
  uid: number,
): Readonly<Record<string, string | undefined>> {
  return env.XDG_RUNTIME_DIR === undefined ? { ...env, XDG_RUNTIME_DIR: `/run/user/${uid}` } : env;
}

import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { findingSentence } from "../util/words/finding-sentences.js";
import { agentPlist, homeInPlist, programInPlist } from "./agent-plist.js";
import {
  type InstallOptions,
  ServiceError,
  type ServiceManager,
  type ServicePlan,
  type ServiceStatus,
} from "./manager.js";
import { assertRemovable, assertReplaceable, notInstalled, refused } from "./ours.js";
import type { ProgramResult, RunProgram } from "./programs.js";
import { writeService } from "./write-service.js";
import { wrongPrograms } from "./wrong-programs.js";

export interface LaunchdOptions {
  readonly name: string;
  readonly run: RunProgram;
  readonly homedir: string;
  readonly uid: number;
}

/** Agents of launchd: the services of one user of a Mac, who has to be logged in. */
export class Launchd implements ServiceManager {
  readonly kind = "launchd";
  readonly scope = "user";
  readonly file: string;
  readonly #label: string;
  readonly #domain: string;
  readonly #run: RunProgram;

  constructor({ name, run, homedir, uid }: LaunchdOptions) {
    this.#label = name === "maxclaw" ? "org.maxclaw.gateway" : `org.maxclaw.${name}`;
    this.#domain = `gui/${uid}`;
    this.#run = run;
    this.file = join(homedir, "Library", "LaunchAgents", `${this.#label}.plist`);
  }

  async installedHome(): Promise<string | undefined> {
    const text = await this.#text();
    return text === undefined ? undefined : homeInPlist(text);
  }

  async install(plan: ServicePlan, { force, start }: InstallOptions): Promise<readonly string[]> {
    await this.#assertThere();
    const text = await this.#text();
    if (!force) assertReplaceable({ file: this.file, text, home: text && homeInPlist(text) }, plan.home);
    await writeService(this.file, agentPlist(this.#label, plan));
    await this.#launchctl(["bootout", this.#target]);
    if (start) await this.start();
    return ["It runs while you are logged in at this Mac."];
  }

  async uninstall(): Promise<void> {
    await this.#assertThere();
    const text = await this.#text();
    assertRemovable({ file: this.file, text });
    await this.#launchctl(["bootout", this.#target]);
    await rm(this.file, { force: true });
  }

  async start(): Promise<void> {
    await this.#assertInstalled();
    if ((await this.#launchctl(["print", this.#target])).code === 0) await this.#control(["kickstart", this.#target]);
    else await this.#control(["bootstrap", this.#domain, this.file]);
  }

  /** Until the next login, or start: launchd starts what it knows. */
  async stop(): Promise<void> {
    await this.#assertInstalled();
    await this.#control(["bootout", this.#target]);
  }

  async restart(): Promise<void> {
    await this.#assertInstalled();
    if ((await this.#launchctl(["print", this.#target])).code === 0)
      await this.#control(["kickstart", "-k", this.#target]);
    else await this.#control(["bootstrap", this.#domain, this.file]);
  }

  async status(): Promise<ServiceStatus> {
    await this.#assertThere();
    const text = await this.#text();
    if (text === undefined)
      return {
        isInstalled: false,
        isRunning: false,
        lines: ["Not installed. Install it with: maxclaw service install"],
        problems: [],
      };
    const { code, stdout } = await this.#launchctl(["print", this.#target]);
    const of = (key: string): string | undefined => new RegExp(`^\\s*${key} = (.*)$`, "m").exec(stdout)?.[1];
    const pid = of("pid");
    const isRunning = pid !== undefined;
    const ended = of("last exit code");
    return {
      isInstalled: true,
      isRunning,
      lines: [
        findingSentence("service_line", {
          reason: `${code !== 0 ? "stopped" : (of("state") ?? "unknown")}${isRunning ? `, pid ${pid}` : ""}`,
        }),
        `File:      ${this.file}`,
      ],
      problems: [
        ...(code === 0 && !isRunning ? [findingSentence("service_ended", { code: ended ?? "unknown" })] : []),
        ...(await wrongPrograms(programInPlist(text))),
      ],
    };
  }

  logCommand(): undefined {
    return undefined;
  }

  get #target(): string {
    return `${this.#domain}/${this.#label}`;
  }

  async #assertInstalled(): Promise<void> {
    await this.#assertThere();
    if ((await this.#text()) === undefined) throw notInstalled(this.file);
  }

  async #assertThere(): Promise<void> {
    const asked = await this.#run("launchctl", ["version"]);
    if (asked?.code === 0) return;
    throw new ServiceError("launchd cannot be reached: the program launchctl is not there or does not answer.", {
      kind: "unavailable",
    });
  }

  async #control(args: readonly string[]): Promise<void> {
    const done = await this.#launchctl(args);
    if (done.code === 0) return;
    const [said = ""] = (done.stderr || done.stdout).trim().split("\n");
    throw refused(
      `launchctl ${args.join(" ")} failed: ${said || `it ended with ${done.code}`}. What the gateway said: maxclaw logs`,
    );
  }

  async #launchctl(args: readonly string[]): Promise<ProgramResult> {
    return (await this.#run("launchctl", args)) ?? { code: null, stdout: "", stderr: "The program launchctl is gone." };
  }

  async #text(): Promise<string | undefined> {
    return await readFile(this.file, "utf8").catch(() => undefined);
  }
}

import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "../util/files/system-fault.js";
import { findingSentence } from "../util/words/finding-sentences.js";
import {
  type InstallOptions,
  ServiceError,
  type ServiceManager,
  type ServicePlan,
  type ServiceScope,
  type ServiceStatus,
} from "./manager.js";
import { assertRemovable, assertReplaceable, notInstalled, refused } from "./ours.js";
import type { ProgramResult, RunProgram } from "./programs.js";
import { finalExitCodes, homeIn, programIn, startBurst, unitText } from "./unit.js";
import { writeService } from "./write-service.js";
import { wrongPrograms } from "./wrong-programs.js";

/** What is there while systemd runs the machine: see sd_booted(3). */
export const usualBootMark = "/run/systemd/system";

/** A journal that was damaged or is large is read before the gateway is ready; as long as `TimeoutStartSec`, and a little. */
const startLimitMs = 620_000;
const shown = [
  ...["LoadState", "UnitFileState", "ActiveState", "SubState", "Result", "ExecMainStatus", "MainPID", "NRestarts"],
  ...["ActiveEnterTimestamp", "StatusText"],
];

export interface SystemdOptions {
  readonly scope: ServiceScope;
  readonly name: string;
  readonly run: RunProgram;
  /** Where units of users are: `$XDG_CONFIG_HOME`, or `~/.config`. */
  readonly configFolder: string;
  /** Where units of the machine are. */
  readonly systemFolder?: string | undefined;
  /** The account whose session this is. */
  readonly user: string;
  /** What cron can run where there is no systemd. Default: `maxclaw gateway`. */
  readonly startLine?: string | undefined;
  readonly bootMark?: string | undefined;
}

/** Services of systemd, for a user or for the machine. */
export class Systemd implements ServiceManager {
  readonly kind = "systemd";
  readonly scope: ServiceScope;
  readonly file: string;
  readonly #unit: string;
  readonly #run: RunProgram;
  readonly #user: string;
  readonly #bootMark: string;
  readonly #startLine: string;

  constructor({
    scope,
    name,
    run,
    configFolder,
    user,
    systemFolder = "/etc/systemd/system",
    bootMark = usualBootMark,
    startLine = "maxclaw gateway",
  }: SystemdOptions) {
    this.scope = scope;
    this.#unit = `${name}.service`;
    this.#run = run;
    this.#user = user;
    this.#bootMark = bootMark;
    this.#startLine = startLine;
    this.file = join(scope === "user" ? join(configFolder, "systemd", "user") : systemFolder, this.#unit);
  }

  async installedHome(): Promise<string | undefined> {
    const text = await this.#text();
    return text === undefined ? undefined : homeIn(text);
  }

  async install(plan: ServicePlan, { force, start }: InstallOptions): Promise<readonly string[]> {
    await this.#assertThere("start");
    const text = await this.#text();
    if (!force) assertReplaceable({ file: this.file, text, home: text && homeIn(text) }, plan.home);
    const canNotify = (await this.#run("systemd-notify", ["--version"]))?.code === 0;
    await writeService(this.file, unitText(plan, { scope: this.scope, canNotify }));
    await this.#control(["daemon-reload"]);
    await this.#control(["enable", this.#unit]);
    if (start) await this.restart();
    const mute = canNotify
      ? []
      : ["The program systemd-notify is not there: systemd does not notice a gateway that hangs."];
    return [...mute, ...(await this.#lingerProblems())];
  }

  async uninstall(): Promise<void> {
    await this.#assertThere("remove");
    const text = await this.#text();
    assertRemovable({ file: this.file, text });
    await this.#control(["disable", "--now", this.#unit]);
    await rm(this.file, { force: true });
    await this.#control(["daemon-reload"]);
    // What failed before would be listed for ever. Where nothing did, it says no.
    await this.#systemctl(["reset-failed", this.#unit]);
  }

  async start(): Promise<void> {
    await this.#change("start");
  }

  async stop(): Promise<void> {
    await this.#change("stop");
  }

  async restart(): Promise<void> {
    await this.#change("restart");
  }

  async status(): Promise<ServiceStatus> {
    await this.#assertThere("start");
    const { stdout } = await this.#control(["show", this.#unit, `--property=${shown.join(",")}`]);
    const now = new Map(
      stdout.split("\n").map((line) => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]),
    );
    const of = (key: string): string => now.get(key) ?? "";
    const text = await this.#text();
    const isInstalled = text !== undefined || of("LoadState") === "loaded";
    if (!isInstalled)
      return {
        isInstalled,
        isRunning: false,
        lines: ["Not installed. Install it with: maxclaw service install"],
        problems: [],
      };
    const isRunning = of("ActiveState") === "active";
    const since = of("ActiveEnterTimestamp") === "" ? "" : `, since ${of("ActiveEnterTimestamp")}`;
    const restarts = of("NRestarts") === "0" || of("NRestarts") === "" ? "" : `, restarted ${of("NRestarts")} times`;
    const starts = of("UnitFileState") === "enabled" ? "yes" : "no";
    return {
      isInstalled,
      isRunning,
      lines: [
        findingSentence("service_line", {
          reason: `${of("ActiveState")} (${of("SubState")})${isRunning ? `, pid ${of("MainPID")}${since}` : ""}${restarts}`,
        }),
        ...(of("StatusText") === "" ? [] : [`It says:   ${of("StatusText")}`]),
        `By itself: ${starts}, at the start of the machine`,
        `File:      ${this.file}`,
      ],
      problems: [
        ...failureOf(of),
        ...(text === undefined ? [] : await wrongPrograms(programIn(text))),
        ...(await this.#lingerProblems()),
      ],
    };
  }

  logCommand({ follow, lines }: { readonly follow: boolean; readonly lines: number }): readonly [string, ...string[]] {
    const whose = this.scope === "user" ? ["--user-unit"] : ["--unit"];
    return [
      "journalctl",
      ...whose,
      this.#unit,
      "--lines",
      String(lines),
      "--no-pager",
      "--quiet",
      ...(follow ? ["--follow"] : []),
    ];
  }

  async #change(verb: "start" | "stop" | "restart"): Promise<void> {
    await this.#assertThere(verb === "stop" ? "stop" : "start");
    if ((await this.#text()) === undefined) throw notInstalled(this.file);
    // Anyone who starts it by hand has looked at why it failed.
    if (verb !== "stop") await this.#systemctl(["reset-failed", this.#unit]);
    const done = await this.#systemctl([verb, this.#unit], startLimitMs);
    if (done.code === 0) return;
    throw refused(
      `systemctl could not ${verb} ${this.#unit}: ${saidBy(done)} What the gateway said: maxclaw service logs`,
    );
  }

  /** A user's services end with the last login, unless the account lingers. */
  async #lingerProblems(): Promise<readonly string[]> {
    if (this.scope !== "user") return [];
    const asked = await this.#run("loginctl", ["show-user", this.#user, "--property=Linger"]);
    if (asked?.stdout.trim() === "Linger=yes") return [];
    return [findingSentence("service_login", { user: this.#user, same: this.#user })];
  }

  async #assertThere(wanted: Wanted): Promise<void> {
    const asked = await this.#run("systemctl", [...this.#whose(), "show", "--property=Version"]);
    if (asked?.code === 0) return;
    throw new ServiceError(await this.#whyNot(asked, wanted), { kind: "unavailable" });
  }

  async #whyNot(asked: ProgramResult | undefined, wanted: Wanted): Promise<string> {
    const otherwise = adviceFor(wanted, (await this.#text()) === undefined ? undefined : this.file, this.#startLine);
    if (asked === undefined) return `There is no systemd on this machine (no program systemctl). ${otherwise}`;
    if (!existsSync(this.#bootMark)) return `systemd does not run on this machine. ${otherwise}`;
    const said = saidBy(asked);
    if (this.scope === "system") return `systemd cannot be reached: ${said} ${otherwise}`;
    const inVain = `The services of ${this.#user} cannot be reached: ${said}`;
    if (this.#user === "root")
      return `${inVain} For root there is the service of the machine: maxclaw service install --system`;
    return (
      `${inVain} Log in as ${this.#user} by ssh or at the machine, not by su or sudo. ` +
      "For a service of the machine, as root: maxclaw service install --system"
    );
  }

  async #control(args: readonly string[]): Promise<ProgramResult> {
    const done = await this.#systemctl(args);
    if (done.code === 0) return done;
    throw refused(`systemctl ${args.join(" ")} failed: ${saidBy(done)}`);
  }

  async #systemctl(args: readonly string[], limitMs?: number): Promise<ProgramResult> {
    const done = await this.#run("systemctl", [...this.#whose(), ...args], limitMs === undefined ? {} : { limitMs });
    return done ?? { code: null, stdout: "", stderr: "The program systemctl is gone." };
  }

  #whose(): readonly string[] {
    return this.scope === "user" ? ["--user"] : [];
  }

  async #text(): Promise<string | undefined> {
    try {
      return await readFile(this.file, "utf8");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw refused(`${this.file} cannot be read: ${reasonOf(error)}.`);
    }
  }
}

/** Why it is down for good. What systemd calls `start-limit-hit` it most often tells as the end before. */
function failureOf(of: (key: string) => string): readonly string[] {
  if (of("ActiveState") !== "failed") return [];
  const code = of("ExecMainStatus");
  const isFinal = finalExitCodes.some((one) => String(one) === code);
  if (of("Result") === "start-limit-hit" || (!isFinal && Number(of("NRestarts")) >= startBurst - 1))
    return [findingSentence("service_gave_up")];
  return [of("Result") === "watchdog" ? findingSentence("service_hung") : findingSentence("service_failed", { code })];
}

/** What somebody who finds no systemd was about to do. */
type Wanted = "start" | "stop" | "remove";

function adviceFor(wanted: Wanted, file: string | undefined, startLine: string): string {
  switch (wanted) {
    case "start":
      return `In a container, let it run maxclaw gateway, with a restart policy (docs/docker.md). Elsewhere let cron start it (crontab -e), with this line: @reboot ${startLine}`;
    case "stop":
      return "A gateway that runs is stopped where it was started, or by: kill PID. Its pid: maxclaw status";
    case "remove":
      return file === undefined ? "There is nothing to remove." : `Remove this file yourself: ${file}`;
    default:
      return wanted satisfies never;
  }
}

function saidBy({ stderr, stdout, code }: ProgramResult): string {
  const [line = ""] = `${stderr.trim()}\n${stdout.trim()}`.trim().split("\n");
  const said = line === "" ? `it ended with ${code ?? "a signal"}` : line;
  return /[.!?]$/.test(said) ? said : `${said}.`;
}

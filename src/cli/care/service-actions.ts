import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { thisAccount } from "../../service/account.js";
import { ServiceError, type ServiceManager } from "../../service/manager.js";
import { openManager, withRuntimeFolder } from "../../service/open-manager.js";
import { createRunProgram, type RunProgram } from "../../service/programs.js";
import { startLine } from "../../service/start-line.js";
import { makeFolder } from "../../util/files/make-folder.js";
import { type CommandContext, openContext } from "../context.js";
import { CommandError, exitCodes } from "../exit.js";
import { harmless, print, printJson, printNote } from "../text/output.js";
import { planService, shellVariables } from "./service-plan.js";

export interface ServiceFlags {
  readonly system?: true;
  readonly name: string;
}

export interface InstallFlags extends ServiceFlags {
  readonly config?: string;
  readonly account?: string;
  readonly force?: true;
  readonly start: boolean;
}

export async function install(flags: InstallFlags): Promise<void> {
  if (flags.account !== undefined && flags.system !== true)
    throw new CommandError("--account goes with --system.", exitCodes.usage);
  const { manager, run } = open(flags);
  await told(async () => {
    assertRoot(manager);
    const context = await openContext(flags.config);
    await prepareHome(context.home, manager);
    const scope = manager.scope;
    const plan = await planService(context, {
      ...{ scope, configPath: flags.config, account: flags.account, run },
      ...{ env: process.env, script: process.argv[1] },
    });
    const isOurs = (await manager.installedHome()) === plan.home && (await manager.status()).isRunning;
    const holder = isOurs ? undefined : await holderOf(context.home);
    const starts = flags.start && holder === undefined;
    const notes = await manager.install(plan, { force: flags.force === true, start: starts });
    print(
      `Installed: ${manager.file}${plan.account === undefined ? "" : `, as ${plan.account}`}. It starts with the machine.`,
    );
    if (holder !== undefined)
      printNote(`A gateway (pid ${holder}) runs for ${context.home} already. Stop it, then: maxclaw service start`);
    else if (starts) print("The gateway runs. How it is: maxclaw service status");
    if (plan.account === "root")
      printNote("It runs as root. Better give it an account of its own: docs/service.md says how.");
    for (const note of notes) printNote(note);
    await noteVariables(context);
  });
}

export async function uninstall(flags: ServiceFlags): Promise<void> {
  const { manager } = open(flags);
  await told(async () => {
    assertRoot(manager);
    await manager.uninstall();
    print(`Removed: ${manager.file}. The home, with all that is stored, stays.`);
  });
}

export async function change(flags: ServiceFlags, verb: "start" | "stop" | "restart"): Promise<void> {
  const { manager } = open(flags);
  await told(async () => {
    assertRoot(manager);
    await manager[verb]();
    print({ start: "The gateway runs.", stop: "The gateway has stopped.", restart: "The gateway runs again." }[verb]);
  });
}

export async function showStatus({ json, ...flags }: ServiceFlags & { readonly json?: true }): Promise<void> {
  const { manager } = open(flags);
  await told(async () => {
    const { kind, scope, file } = manager;
    const status = await manager.status();
    if (!status.isRunning) process.exitCode = exitCodes.failure;
    if (json) return printJson({ kind, scope, file, home: await manager.installedHome(), ...status });
    for (const line of status.lines) print(harmless(line));
    const home = await manager.installedHome();
    if (home !== undefined) print(harmless(`Home:      ${home}`));
    for (const problem of status.problems) print(harmless(`Problem:   ${problem}`));
  });
}

export async function showLogs({
  follow,
  lines,
  ...flags
}: ServiceFlags & { readonly follow?: true; readonly lines: number }): Promise<void> {
  const { manager, run } = open(flags);
  await told(async () => {
    await noteSilence(manager, run);
    const command = manager.logCommand({ follow: follow === true, lines });
    const code = command === undefined ? undefined : await runShown(command);
    if (code === undefined)
      throw new CommandError("The system keeps no log of this service here. The gateway's own: maxclaw logs");
    if (code !== 0) process.exitCode = exitCodes.failure;
  });
}

/** An empty log looks like one that was not found: says which of the two it is. */
async function noteSilence(manager: ServiceManager, run: RunProgram): Promise<void> {
  const [file, ...args] = manager.logCommand({ follow: false, lines: 1 }) ?? [];
  const looked = file === undefined ? undefined : await run(file, args);
  if (looked === undefined || looked.stdout.trim() !== "") return;
  const own = "The gateway's own log: maxclaw logs";
  if ((await manager.installedHome()) !== undefined)
    return printNote(
      `The system has kept no line of this service. It has not started yet, or this account may not read them. ${own}`,
    );
  const none = "The service is not installed, so the system has no log of it.";
  const why = await whyUnavailable(manager);
  printNote(why === undefined ? `${none} Install it with: maxclaw service install. ${own}` : `${none} ${own}`);
  if (why !== undefined) throw new CommandError(why, exitCodes.unavailable);
}

/** Why nothing can be installed here, with what to do instead; undefined where it can. */
async function whyUnavailable(manager: ServiceManager): Promise<string | undefined> {
  try {
    await manager.status();
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== "unavailable") throw error;
    return error.message;
  }
}

function open({ system, name }: ServiceFlags): { readonly manager: ServiceManager; readonly run: RunProgram } {
  const { env } = process;
  const account = thisAccount(env);
  const run = createRunProgram(withRuntimeFolder(env, account.uid), new AbortController().signal);
  const scope = system === true ? "system" : "user";
  try {
    const line = startLine(env, process.argv[1]);
    return { manager: openManager({ scope, name, run, env, startLine: line, ...account }), run };
  } catch (error) {
    throw toCommandError(error);
  }
}

/** Failures of managers with the exit code that scripts see. */
async function told(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw toCommandError(error);
  }
}

function toCommandError(error: unknown): unknown {
  return error instanceof ServiceError && error.kind === "unavailable"
    ? new CommandError(error.message, exitCodes.unavailable)
    : error;
}

function assertRoot({ scope }: ServiceManager): void {
  if (scope === "system" && process.getuid?.() !== 0)
    throw new CommandError("A service of the machine is changed by root only. Run it with sudo, or without --system.");
}

async function prepareHome(home: string, { scope }: ServiceManager): Promise<void> {
  if ((await stat(home).catch(() => undefined))?.isDirectory() === true) return;
  if (scope === "system")
    throw new CommandError(
      `There is no home ${home}. Say which one it is, e.g.: sudo MAXCLAW_HOME=/home/ada/.maxclaw maxclaw service install --system`,
    );
  await makeFolder(home);
}

async function holderOf(home: string): Promise<number | undefined> {
  const found = await import("../../offline/running-gateway.js");
  return (await found.holderOf(home))?.pid;
}

async function noteVariables(context: CommandContext): Promise<void> {
  const { path } = context.loaded;
  const text = path === undefined ? "" : await readFile(path, "utf8").catch(() => "");
  const secrets = join(context.home, "secrets.json");
  const stored: unknown = await readFile(secrets, "utf8").then(JSON.parse, () => ({}));
  const names = shellVariables(context, text, typeof stored === "object" && stored !== null ? Object.keys(stored) : []);
  if (names.length > 0)
    printNote(
      `The service does not see the variables of your shell: ${names.join(", ")}. Write them into ${secrets}, and restart it.`,
    );
}

/** Shows a program on this terminal until it ends; undefined where it is not there. */
async function runShown([file, ...args]: readonly [string, ...string[]]): Promise<number | undefined> {
  const child = spawn(file, args, { stdio: "inherit" });
  // Ctrl+C is for the program: this command ends with it.
  const ignore = (): void => {};
  process.on("SIGINT", ignore);
  return await new Promise((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("close", (code) => resolve(code ?? 0));
  });
}

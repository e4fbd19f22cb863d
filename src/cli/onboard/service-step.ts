import { messageOf } from "../../errors.js";
import { thisAccount } from "../../service/account.js";
import type { ServiceManager } from "../../service/manager.js";
import { openManager, withRuntimeFolder } from "../../service/open-manager.js";
import { createRunProgram } from "../../service/programs.js";
import { startLine } from "../../service/start-line.js";
import { install } from "../care/service-actions.js";
import { report, type Setup } from "./setup.js";

const name = "maxclaw";

/** Lets the system start the gateway. Resolves with whether it was installed now. @throws {CommandError} asked for by flag, and it failed */
export async function setUpService(setup: Setup): Promise<boolean> {
  const { flags, prompts, draft } = setup;
  if (flags.service === false) return false;
  if (flags.service === true) return await installed();
  if (prompts === undefined) return false;
  const state = await stateOf(draft.home, setup.signal);
  if (state === "ours") return false;
  if (state !== "none") {
    report(setup, `The system cannot start the gateway for you: ${state}`, "warn");
    return false;
  }
  const question = "Start the gateway now, and each time this machine starts?";
  if (!(await prompts.confirm(question))) return false;
  try {
    return await installed();
  } catch (error) {
    report(setup, `The service was not installed: ${messageOf(error)}`, "warn");
    return false;
  }
}

async function installed(): Promise<boolean> {
  await install({ name, start: true });
  return true;
}

/** `ours`: it runs this home already. Anything else than `none` says why there can be no service. */
async function stateOf(home: string, signal: AbortSignal): Promise<string> {
  try {
    const manager = openUserManager(signal);
    const theirs = await manager.installedHome();
    if (theirs === home) return "ours";
    const { isInstalled } = await manager.status();
    return isInstalled ? `${manager.file} is the service of ${theirs ?? "something else"}.` : "none";
  } catch (error) {
    signal.throwIfAborted();
    return messageOf(error);
  }
}

function openUserManager(signal: AbortSignal): ServiceManager {
  const { env } = process;
  const account = thisAccount(env);
  const run = createRunProgram(withRuntimeFolder(env, account.uid), signal);
  const line = startLine(env, process.argv[1]);
  return openManager({ scope: "user", name, run, env, startLine: line, ...account });
}

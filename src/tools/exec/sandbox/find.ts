import { messageOf } from "../../../errors.js";
import { trimEndWhere } from "../../../util/text/trim-where.js";
import { statusSentence } from "../../../util/words/status-sentences.js";
import type { Limits } from "../limits.js";
import { createBubblewrap, findBubblewrap } from "./bubblewrap.js";
import type { Confinement, SandboxState } from "./sandbox.js";
import { tryConfinement } from "./trial.js";

/** The sandbox of this machine, tried once, by the first who asks. */
export interface Sandbox {
  /** What is known now. */
  readonly state: SandboxState;
  /** Undefined: commands run without a sandbox. */
  find(): Promise<Confinement | undefined>;
  /** Resolves once no trial runs, which is soon after the signal has aborted. */
  stopped(): Promise<void>;
}

export interface SandboxOptions {
  readonly isOn: boolean;
  readonly limits: () => Limits;
  /** Called once, with the result of the trial. */
  readonly onTried: (state: SandboxState) => void;
  /** Default: what belongs to this system. */
  readonly search?: (() => Confinement | string | Promise<Confinement | string>) | undefined;
}

export function createSandbox(
  { isOn, limits, onTried, search = searchSystem }: SandboxOptions,
  signal: AbortSignal,
): Sandbox {
  let state: SandboxState = isOn ? { state: "checking" } : { state: "off" };
  let trial: Promise<Confinement | undefined> | undefined;
  const enter = (to: SandboxState): void => {
    state = to;
    onTried(to);
  };
  const look = async (): Promise<Confinement | undefined> => {
    const found = await search();
    if (typeof found === "string") {
      enter({ state: "unavailable", reason: found });
      return undefined;
    }
    const problem = await tryConfinement(found, limits(), signal).catch(messageOf);
    // What was cut off says nothing.
    if (signal.aborted) return undefined;
    if (problem === undefined) {
      enter({ state: "ready", name: found.name });
      return found;
    }
    enter({
      state: "unavailable",
      reason: statusSentence("sandbox_fails", {
        name: found.name,
        reason: trimEndWhere(problem, (unit) => /[.\s]/.test(unit)),
      }),
    });
    return undefined;
  };
  return {
    get state() {
      return state;
    },
    async find() {
      if (!isOn) return undefined;
      trial ??= look();
      return await trial;
    },
    async stopped() {
      await trial;
    },
  };
}

async function searchSystem(): Promise<Confinement | string> {
  if (process.platform === "darwin") {
    const { createSeatbelt, sandboxExec } = await import("./seatbelt.js");
    return createSeatbelt(sandboxExec);
  }
  if (process.platform !== "linux") return statusSentence("sandbox_no_system");
  const file = findBubblewrap();
  return file === undefined ? statusSentence("sandbox_no_bubblewrap") : createBubblewrap(file);
}

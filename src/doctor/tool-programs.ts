import { findChromium } from "../tools/browser/find-chromium.js";
import { createSandbox } from "../tools/exec/sandbox/find.js";
import type { World } from "./check.js";

/** The browser that the config names, or the system's; undefined where there is none. */
export function browserOf({ loaded }: World): string | undefined {
  return findChromium(loaded.config.tools.browser.executablePath);
}

/** Tries the sandbox for commands: its name, or why there is none. Makes no groups, which a gateway may be making. */
export async function trySandbox(
  signal: AbortSignal,
): Promise<{ readonly name: string } | { readonly reason: string }> {
  const none = { holdsMemory: false, open: () => undefined };
  const sandbox = createSandbox({ isOn: true, limits: () => none, onTried() {} }, signal);
  await sandbox.find();
  const { state } = sandbox;
  if (state.state === "ready") return { name: state.name };
  return { reason: state.state === "unavailable" ? state.reason : "It could not be tried." };
}

import { createRunProgram } from "../../service/programs.js";
import { findingSentence } from "../../util/words/finding-sentences.js";
import type { Check, Finding } from "../check.js";
import { nodeFinding } from "../checks/machine/node.js";
import { browserOf } from "../tool-programs.js";

/** A version of Chromium comes each four weeks; 120 came in the first week of December 2023. */
const chromium = { major: 120, at: Date.parse("2023-12-05"), everyMs: 28 * 86_400_000 };
const oldVersions = 6;
const programMs = 10_000;

/** The account, and programs that are too old to be safe. */
export const machineCheck: Check = {
  name: "machine",
  async run(world, signal) {
    const { loaded, now, env } = world;
    const found: Finding[] = [];
    if (process.getuid?.() === 0)
      found.push({
        level: "warn",
        found: findingSentence("root"),
        todo: findingSentence("root_todo"),
      });
    const node = nodeFinding(process.versions.node, now());
    if (node.level === "warn") found.push(node);
    const browser = loaded.config.tools.browser.enabled ? browserOf(world) : undefined;
    const said =
      browser && (await createRunProgram(env, signal)(browser, ["--version"], { limitMs: programMs }))?.stdout;
    const old = said && oldBrowser(said, now());
    if (old) found.push(old);
    return found.length > 0 ? found : [{ level: "ok", found: findingSentence("machine_fine") }];
  },
};

/** `Chromium 141.0.7390.54 …`. */
export function oldBrowser(said: string, now: number): Finding | undefined {
  const [name = "The browser", major = ""] =
    said.match(/^(?:Google )?(Chromium|Chrome)|\b\d+(?=\.\d+\.\d+\.\d+)/g) ?? [];
  if (major === "") return undefined;
  const newest = chromium.major + Math.floor((now - chromium.at) / chromium.everyMs);
  if (newest - Number(major) <= oldVersions) return undefined;
  return {
    level: "warn",
    found: findingSentence("old_browser", { name: `${name} ${major}`, n: newest - Number(major) }),
    todo: findingSentence("old_browser_todo"),
  };
}

import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";

/** The last day with security fixes, by nodejs.org/about/previous-releases. Odd ones have none for long. */
const ends: Readonly<Record<number, string>> = {
  20: "2026-04-30",
  22: "2027-04-30",
  24: "2028-04-30",
  26: "2029-04-30",
};
const floor = [20, 19] as const;

/** Whether it can run this program. That it gets no security fixes any more is found by the check of the machine. */
export const nodeCheck: Check = {
  name: "Node",
  run: async () => [nodeFinding(process.versions.node, 0)],
};

export function nodeFinding(version: string, now: number): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const node = { version, system: `${process.platform} ${process.arch}` };
  const todo = findingSentence("node_todo");
  if (major < floor[0] || (major === floor[0] && minor < floor[1]))
    return { level: "fail", found: findingSentence("node_old", { ...node, needed: floor.join(".") }), todo };
  const end = ends[major];
  if (end !== undefined && now > Date.parse(end))
    return { level: "warn", found: findingSentence("node_ended", { ...node, day: end }), todo };
  return { level: "ok", found: findingSentence("node_fine", node) };
}

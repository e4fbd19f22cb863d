import type { EventType } from "../src/events/catalogue.js";

/**
 * Types that nothing produces yet, each with what has to be built first. A test holds this list against the code
 * and against what a running gateway tells: a feature that lands takes its types off the list.
 */
export const waitingTypes: Partial<Readonly<Record<EventType, string>>> = {};

/** The list as a markdown table. */
export function waitingTable(): string {
  const rows = Object.entries(waitingTypes).map(([type, what]) => `| \`${type}\` | ${what} |`);
  return ["| type | waits for |", "|---|---|", ...rows, ""].join("\n");
}

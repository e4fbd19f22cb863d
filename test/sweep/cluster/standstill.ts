import { within } from "../../../src/util/async/within.js";
import type { ClusterNode, ClusterWorld } from "./cluster-world.js";

/** A node that stands still answers nothing. */
const answerMs = 3000;
const newestLines = 6;
const longestLine = 400;

/** Why a world may not come to rest: what has no answer, what waits where, and what each node knows and has said last. */
export async function describeStandstill(
  world: ClusterWorld,
  database: () => Promise<readonly string[]>,
): Promise<string> {
  const unanswered = world.unanswered();
  const stored = await database().catch((error: unknown) => [`the database does not say: ${String(error)}`]);
  const nodes: string[] = [];
  for (const node of world.nodes) nodes.push(...(await describeNode(world, node)));
  const lines = [
    ...(unanswered.length > 0 ? ["people:", ...unanswered.map((what) => `  ${what}`)] : ["everybody has an answer"]),
    ...stored,
    ...nodes,
  ];
  return world.nameLives(lines.join("\n"));
}

async function describeNode(world: ClusterWorld, { name, life, child, isAway }: ClusterNode): Promise<string[]> {
  const state = child.hasEnded ? "has ended" : child.isStopped ? "stands still" : "runs";
  const asked = child.isStopped ? undefined : await answerOf(child.workLeft());
  const seen = child.isStopped ? undefined : await answerOf(child.look());
  const said = entriesOf(world.log(), life).slice(-newestLines);
  return [
    `${name} ${state}${isAway ? ", away" : ""}, in life ${life}; what it has to do: ${JSON.stringify(asked ?? "no answer")}`,
    ...(seen?.chats ?? []).map(
      ({ key, lastSequence, inbound, outbound }) =>
        `  ${key}: ${seen?.published[key]} of ${lastSequence} events shown; waits: ${[...inbound, ...outbound].join(" ") || "nothing"}`,
    ),
    ...said.map((line) => `  ${line}`),
  ];
}

async function answerOf<T>(asking: Promise<T | undefined>): Promise<T | undefined> {
  return await within(asking, { ms: answerMs }).catch(() => undefined);
}

/** The first line of each of its entries. */
function entriesOf(log: string, life: number): readonly string[] {
  const lines = log.split("\n").filter((line) => line.startsWith(`life ${life} `));
  return lines.map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line));
}

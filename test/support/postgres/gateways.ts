import { openAIConfig, startGateway, type TestGateway } from "../worlds/gateway.js";
import type { Cluster } from "./cluster.js";

/** A gateway in this process that is one more node of the cluster. */
export async function startNode(
  cluster: Cluster,
  apiBase: string,
  more: Record<string, unknown> = {},
  now?: () => number,
): Promise<TestGateway> {
  const { workspace } = cluster;
  const config = {
    ...openAIConfig(apiBase, more),
    ...cluster.config,
    agents: { defaults: { model: "openai/test-model", workspace, timezone: "UTC" } },
  };
  // What reactors see is what happens in their own node, and not all of a session.
  return await startGateway({ home: await cluster.home(), config, isRuled: false, ...(now && { now }) });
}

/** How several that were begun at once have ended, in no order. */
export function statuses(outcomes: readonly PromiseSettledResult<unknown>[]): readonly string[] {
  return outcomes.map(({ status }) => status).sort();
}

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeTelegram } from "../fakes/fake-telegram.js";
import { type Daemon, startDaemon } from "../worlds/daemon.js";
import { openAIConfig } from "../worlds/gateway.js";
import type { RecordedRequest } from "../worlds/model-script.js";
import type { Cluster } from "./cluster.js";

/** A gateway process that is one node of a cluster. */
export interface NodeProcess extends AsyncDisposable {
  readonly name: string;
  readonly home: string;
  readonly daemon: Daemon;
}

export interface NodeOptions {
  readonly name: string;
  readonly cluster: Cluster;
  readonly apiBase: string;
  readonly telegram?: Pick<FakeTelegram, "token" | "url"> | undefined;
  /** Of a node that is started once more. */
  readonly home?: string | undefined;
  readonly args?: readonly string[];
  readonly more?: Record<string, unknown>;
}

/** Each node has a key of its own, so that the model knows which one asks. */
export async function startNode(options: NodeOptions): Promise<NodeProcess> {
  const { name, cluster, apiBase, telegram, args, more } = options;
  const home = options.home ?? (await cluster.home());
  const channels =
    telegram === undefined
      ? {}
      : { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const config = {
    ...openAIConfig(apiBase),
    ...cluster.config,
    agents: { defaults: { model: "openai/test-model", workspace: cluster.workspace, quietMs: 0 } },
    providers: { openai: { apiKey: `sk-node-${name}`, apiBase } },
    tools: { exec: { sandbox: "off" } },
    inbound: { senderPerMinute: 0, chatPerMinute: 0 },
    channels,
    ...more,
  };
  await writeFile(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  const daemon = await startDaemon({ home, args: args ?? [], readyLimitMs: 60_000 });
  return { name, home, daemon, [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose]() };
}

/** The node that has sent this request to the model. */
export function askerOf({ headers }: Pick<RecordedRequest, "headers">): string {
  return /sk-node-(\w+)/.exec(String(headers.authorization))?.[1] ?? "";
}

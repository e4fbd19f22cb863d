import type { Budgets } from "../../budgets/budgets.js";
import type { Engine } from "../../engine/engine.js";
import type { GatewayStatus } from "../gateway-status.js";
import type { StatusApi } from "./status-api.js";

/** What the gateway knows about itself. */
export interface StatusSources {
  readonly status: () => Promise<GatewayStatus>;
  readonly state: () => GatewayStatus["state"];
  /** One sentence while files cannot be reached at all. */
  readonly diskProblem: () => string | undefined;
  readonly holdFiles?: StatusApi["holdFiles"] | undefined;
  /** What `/metrics` shows. */
  readonly metrics: (isReady: boolean) => string;
}

export interface StatusOperationPorts extends StatusSources {
  readonly engine: Pick<Engine, "status" | "ledger">;
  readonly budgets: Pick<Budgets, "report">;
}

/** How the gateway is, and what it has done. */
export function createStatusOperations(ports: StatusOperationPorts): StatusApi {
  const { engine } = ports;
  const whyNotReady = (): string | undefined => {
    const state = ports.state();
    if (state !== "ready") return `The gateway is ${state}.`;
    return engine.status().writable ? ports.diskProblem() : "The disk refuses writes.";
  };
  return {
    status: ports.status,
    isReady: () => whyNotReady() === undefined,
    whyNotReady,
    whyStuck: ports.diskProblem,
    usage: (days) => ports.budgets.report(days),
    ledger: () => engine.ledger(),
    ...(ports.holdFiles === undefined ? {} : { holdFiles: ports.holdFiles }),
    metrics: () => ports.metrics(whyNotReady() === undefined),
  };
}

import type { Budgets } from "../../budgets/budgets.js";
import type { Engine, LedgerEntry } from "../../engine/engine.js";
import type { GatewayStatus } from "../gateway-status.js";
import type { StatusApi } from "./status-api.js";

/** What the gateway knows of itself. */
export interface StatusSources {
  readonly status: () => GatewayStatus;
  /** One sentence while files cannot be reached at all. */
  readonly diskProblem: () => string | undefined;
  readonly readLedger: () => Promise<readonly LedgerEntry[]>;
  /** What `/metrics` shows. */
  readonly metrics: () => string;
}

export interface StatusOperationPorts extends StatusSources {
  readonly engine: Pick<Engine, "status" | "holdFiles">;
  readonly budgets: Pick<Budgets, "report">;
}

/** How the gateway is, and what it has done. */
export function createStatusOperations(ports: StatusOperationPorts): StatusApi {
  const { engine } = ports;
  const whyNotReady = (): string | undefined => {
    const { state } = ports.status();
    if (state !== "ready") return `The gateway is ${state}.`;
    return engine.status().writable ? ports.diskProblem() : "The disk takes no writes.";
  };
  return {
    status: ports.status,
    isReady: () => whyNotReady() === undefined,
    whyNotReady,
    usage: (days) => ports.budgets.report(days),
    ledger: ports.readLedger,
    ...(engine.holdFiles === undefined ? {} : { holdFiles: engine.holdFiles }),
    metrics: ports.metrics,
  };
}

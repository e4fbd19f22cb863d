import type { UsageReport } from "../../budgets/report.js";
import type { LedgerEntry } from "../../engine/engine.js";
import type { HeldFiles } from "../../engine/held-files.js";
import type { GatewayStatus } from "../gateway-status.js";

/** How the gateway is, and what it has done. */
export interface StatusApi {
  status(): Promise<GatewayStatus>;
  /** True once the gateway takes messages and the disk takes writes. */
  isReady(): boolean;
  /** One sentence why it is not ready; undefined when it is. */
  whyNotReady(): string | undefined;
  /** One sentence why only a new start can help; undefined while it can go on by itself, as when a disk is full. */
  whyStuck(): string | undefined;
  /** What the last days have used, today included. */
  usage(days: number): UsageReport;
  ledger(): Promise<readonly LedgerEntry[]>;
  /** Keeps the gateway's files as they are until the result is disposed, for a copy or a check by a command. */
  holdFiles?(): Promise<HeldFiles>;
  /** Counters in the text format of Prometheus; empty when they are switched off. */
  metrics?(): string;
}

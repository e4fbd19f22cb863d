import type { GatewayEvent } from "../../events/event.js";
import type { Logger } from "../../log.js";
import type { QueueName } from "../engine.js";
import type { BossModule, PgModule } from "./modules.js";

/** How soon a node notices what. The defaults are for work; tests are quicker. */
export interface Timing {
  /** A node that has not renewed its claims for so long has lost them. Default 10,000. */
  readonly claimMs?: number;
  /** How often they are renewed. Default 2000. */
  readonly renewMs?: number;
  /** How often a node looks for what it was not notified of, and for lost claims. Default 1000. */
  readonly pollMs?: number;
  /** The same while no notifications arrive. Default 500. */
  readonly deafPollMs?: number;
  /** After a time without database nobody's claims are taken away for so long. Default 5000. */
  readonly graceMs?: number;
  /** A lease ends so long after its last renewal. Default 10,000. */
  readonly leaseMs?: number;
  /** How often what has lapsed is deleted. Default 60,000. */
  readonly cleanMs?: number;
}

export const defaultTiming: Required<Timing> = {
  claimMs: 10_000,
  renewMs: 2000,
  pollMs: 1000,
  deafPollMs: 500,
  graceMs: 5000,
  leaseMs: 10_000,
  cleanMs: 60_000,
};

export interface PostgresEngineOptions {
  /** What `import("pg")` and `import("pg-boss")` give. */
  readonly modules: { readonly pg: PgModule; readonly boss: BossModule };
  /** `postgresql://user:password@host:port/database?sslmode=…` */
  readonly url: string;
  /** Everything lies in it, pg-boss included. Default `maxclaw`. */
  readonly schema?: string | undefined;
  /** What the schema must be of; without it, it is taken as it is. See {@link PostgresEngine.clusterId}. */
  readonly clusterId?: string | undefined;
  /** Connections of this node besides the one that listens. Default 10. */
  readonly connections?: number | undefined;
  /** Called with each event of every node, per session in seq order and once, after it is stored. */
  readonly publish: (event: GatewayEvent) => void;
  readonly instanceId: string;
  readonly log: Logger;
  /** Unix ms. Default `Date.now`. */
  readonly now?: () => number;
  readonly limits?: {
    readonly acceptsWaiting?: number;
    /** Pieces of work in one lane. Default 10,000; or 16 MB. */
    readonly pendingPerKey?: number;
    readonly waitMs?: number;
  };
  readonly timing?: Timing;
  /** Called with the name of each boundary that is passed, so that a test can kill the process there. */
  readonly onBoundary?: (name: string, queue?: QueueName) => void;
}

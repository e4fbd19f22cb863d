import type { Acceptance, Engine } from "../../../src/engine/engine.js";
import { EngineError } from "../../../src/errors.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { inbound, queued, sessionOf } from "../../support/engine/engine-kit.js";

export interface ContractOptions {
  readonly limits?: {
    readonly acceptsWaiting?: number;
    readonly pendingPerKey?: number;
    readonly waitMs?: number;
  };
  readonly now?: () => number;
}

/** An engine with what it has published so far. The same storage opened again holds the same work. */
export type OpenEngine = (
  storage: string,
  options?: ContractOptions,
) => Promise<{ engine: Engine; published: readonly GatewayEvent[] }>;

type Run = (engine: Engine, published: readonly GatewayEvent[], reopen: () => Promise<Engine>) => Promise<void>;

/** One promise of every engine. `run` gets an engine of its own, with a storage that is empty. */
export interface ContractTest {
  readonly title: string;
  readonly run: Run;
  readonly options: ContractOptions | undefined;
}

export function contractTest(title: string, run: Run, options?: ContractOptions): ContractTest {
  return { title, run, options };
}

export const other = "telegram:99";

export function accept(engine: Engine, id: string, key = sessionOf): Promise<Acceptance> {
  return engine.accept(inbound(id, key), { events: [queued(id)] });
}

export function isError(kind: EngineError["kind"]) {
  return (error: unknown) => error instanceof EngineError && error.kind === kind;
}

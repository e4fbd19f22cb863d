import type { Engine, EngineStatus } from "../../engine/engine.js";
import { draft, type EventDraft } from "../../events/event.js";
import { statusSentence } from "../../util/words/status-sentences.js";
import type { ChannelStatus, GatewayStatus } from "../gateway-status.js";
import { damagedLogs } from "./damage.js";
import { type ChatsAtWork, findStuckChats } from "./stuck-chats.js";
import { findUndelivered } from "./undelivered.js";

/** What stays the same as long as the gateway runs. */
export type StatusFacts = Pick<GatewayStatus, "version" | "instanceId" | "home" | "workspace" | "missing" | "engine">;

export interface StatusPorts {
  readonly facts: StatusFacts;
  readonly rights: () => Pick<GatewayStatus, "executionMode" | "restrictToWorkspace">;
  readonly engine: Pick<Engine, "status" | "records" | "dead" | "waiting" | "longLanes">;
  readonly models: {
    describe(): { readonly provider: string; readonly model: string };
    providerReason(): string | undefined;
  };
  readonly channels: { list(): readonly ChannelStatus[] };
  readonly chats: ChatsAtWork;
  readonly sandbox: () => GatewayStatus["sandbox"];
  readonly config: () => GatewayStatus["config"];
  /** What each part says is wrong with it, as sentences. */
  readonly problems: readonly (() => readonly string[])[];
  /** What is wrong with where session documents are. */
  readonly storageProblem: () => string | undefined;
  readonly logEvent: (event: EventDraft) => void;
  /** Unix ms. */
  readonly now: () => number;
}

/** How the gateway is. */
export class Status {
  readonly #ports: StatusPorts;
  readonly #startedAt: string;
  #state: GatewayStatus["state"] = "starting";

  constructor(ports: StatusPorts) {
    this.#ports = ports;
    this.#startedAt = new Date(ports.now()).toISOString();
  }

  enter(to: GatewayStatus["state"]): void {
    const { version } = this.#ports.facts;
    this.#ports.logEvent(draft("gateway_state_changed", { from: this.#state, to, version }, { source: "gateway" }));
    this.#state = to;
  }

  get state(): GatewayStatus["state"] {
    return this.#state;
  }

  async read(): Promise<GatewayStatus> {
    const { facts, rights, engine, models, channels, chats, sandbox, config } = this.#ports;
    const now = engine.status();
    const { inboundWaiting, outboundWaiting, deadLetters, syncs } = now;
    const providerReason = models.providerReason();
    return {
      ...facts,
      ...rights(),
      ...models.describe(),
      ...(providerReason === undefined ? {} : { providerReason }),
      state: this.#state,
      pid: process.pid,
      startedAt: this.#startedAt,
      channels: channels.list(),
      problems: await this.#problems(now),
      sandbox: sandbox(),
      config: config(),
      inboundWaiting,
      outboundWaiting,
      deadLetters,
      stuckChats: await findStuckChats(engine, chats),
      rssBytes: process.memoryUsage.rss(),
      syncs,
    };
  }

  async #problems({ writable, reason, problems: engineProblems = [] }: EngineStatus): Promise<readonly string[]> {
    const { engine, problems, storageProblem, now } = this.#ports;
    const all = [
      ...problems.flatMap((of) => of()),
      ...engineProblems,
      ...(await findUndelivered(engine, now())),
      ...(await damagedLogs(engine)),
    ];
    if (!writable) all.push(reason ?? statusSentence("no_writes"));
    const ofStorage = storageProblem();
    return ofStorage === undefined ? all : [...all, ofStorage];
  }
}

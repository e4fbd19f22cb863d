import { createAgent } from "../../agent/agent.js";
import { createClock } from "../../agent/model/context.js";
import { deliverOutbound } from "../../bus/delivery.js";
import type { Handler } from "../../engine/engine.js";
import { onAbort } from "../../util/async/on-abort.js";
import { sleep } from "../../util/async/sleep.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import type { OpenedStatus } from "../operations/status.js";
import { type GatewayOptions, isWorking } from "../options.js";
import { agentPorts, type Hands } from "./agent-ports.js";
import { Connections } from "./connections.js";
import { type Part, startPart } from "./part.js";

const turnsParallel = 64;
const maxAttempts = 3;
const stuckMs = 1000;
/** A send that is cut may be said twice: one that is under way gets this long, however little grace is left. */
const leastSendMs = 1000;

/** Everything that works through the queues: connections bring messages, turns answer them, replies go out. */
export class Lanes {
  readonly #core: Core;
  readonly #assistant: Assistant;
  readonly #status: OpenedStatus;
  readonly #receiving = new AbortController();
  readonly #working = new AbortController();
  readonly #sending = new AbortController();
  readonly #replies: Part;
  readonly #turns: Part;
  readonly #connections: Connections | undefined;
  #graceEnd = 0;
  #drained: Promise<void> | undefined;

  /** Sets it in motion. */
  constructor(options: GatewayOptions, core: Core, assistant: Assistant, status: OpenedStatus, hands: Hands) {
    this.#core = core;
    this.#assistant = assistant;
    this.#status = status;
    const agent = inLife(openAgentOf(options, core, assistant, status, hands), core, assistant);
    const isConnected = options.runs?.channels !== false;
    if (!isWorking(options)) this.#working.abort();
    if (!isWorking(options) || !isConnected) this.#sending.abort();
    this.#replies = this.#startReplies(options);
    const { log } = options;
    const { signal } = this.#working;
    this.#turns = startPart(log, "turns", !signal.aborted, () =>
      core.messages.consumeInbound({ parallel: turnsParallel, maxAttempts }, agent, signal),
    );
    this.#connections = isConnected ? this.#connect(options) : undefined;
  }

  /** Takes nothing new and lets turns and replies finish for `graceMs`; what is left goes on at the next start. */
  async drain(graceMs: number): Promise<void> {
    this.#drained ??= this.#drain(graceMs);
    await this.#drained;
  }

  #startReplies({ log, pauses }: GatewayOptions): Part {
    const { channels, previews } = this.#assistant.platforms;
    const { engine, lives } = this.#core;
    const { signal } = this.#sending;
    const graceMs = (): number => this.#graceMs();
    return startPart(log, "replies", !signal.aborted, () =>
      deliverOutbound({ engine, channels, previews, lives, log, graceMs, retryDelayMs: pauses?.sendRetryMs }, signal),
    );
  }

  #connect({ log }: GatewayOptions): Connections {
    const { platforms, inbound, live } = this.#assistant;
    const { channels: states } = this.#status;
    const { signal } = this.#receiving;
    const connections = new Connections({ engine: this.#core.engine, intake: inbound.intake, states, log, signal });
    for (const channel of platforms.channels.values()) connections.begin(channel);
    live.own({
      sections: ["channels"],
      apply: (next) => platforms.follow(next.channels, connections, states),
    });
    return connections;
  }

  #graceMs(): number {
    return Math.max(this.#graceEnd - Date.now(), leastSendMs);
  }

  async #drain(totalMs: number): Promise<void> {
    const { status } = this.#status;
    const { inbound, platforms } = this.#assistant;
    status.enter("draining");
    const why = new DOMException("The gateway is stopping", "AbortError");
    this.#graceEnd = Date.now() + totalMs;
    this.#core.messages.close();
    this.#receiving.abort(why);
    this.#working.abort(why);
    const cut = setTimeout(() => inbound.running.shutDown(), totalMs);
    await this.#connections?.stopped();
    await this.#turns.stopped();
    clearTimeout(cut);
    if (!this.#sending.signal.aborted)
      await outboxAtRest(() => this.#core.engine.status().outboundWaiting, this.#graceEnd);
    this.#sending.abort(why);
    await this.#replies.stopped();
    await platforms.previews.close(this.#graceMs());
    status.enter("stopped");
  }
}

function openAgentOf(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  { status }: OpenedStatus,
  hands: Hands,
): ReturnType<typeof createAgent> {
  const { events } = options.config.config;
  const { live, mind } = assistant;
  const { budgets } = mind;
  let clock = createClock(budgets.calendar);
  live.own({
    sections: ["agents.defaults.timezone"],
    apply() {
      clock = createClock(budgets.calendar);
    },
  });
  const turns = ["maxToolIterations", "quietMs", "quietAfter"].map((name) => `agents.defaults.${name}`);
  live.own({ sections: [...turns, "policy.answerSeconds", "agents.defaults.compactAt"], apply() {} });
  return createAgent(agentPorts(options, core, assistant, status, hands), {
    get maxIterations() {
      return live.running.agents.defaults.maxToolIterations;
    },
    maxModelAttempts: 3,
    retryDelayMs: options.pauses?.modelRetryMs ?? 1000,
    get titles() {
      return live.running.memory.titles !== "off";
    },
    get quiet() {
      const { quietMs, quietAfter } = live.running.agents.defaults;
      return { ms: quietMs, after: quietAfter };
    },
    clock: (at) => clock(at),
    ...events,
    machines: options.added?.machines,
  });
}

/** No turn begins while its session is being deleted; afterwards its delivery is fenced. */
function inLife(handler: Handler<"inbound">, { lives }: Core, { inbound }: Assistant): Handler<"inbound"> {
  return async (delivery, signal) => {
    const { sessionKey } = delivery.work;
    await lives.free(sessionKey);
    if (signal.aborted) return;
    await lives.run(sessionKey, async (life) => {
      // Its last commit tells everyone who waits for the turn.
      onAbort(life, () => inbound.running.stop(sessionKey, "stop"));
      await handler(delivery, signal);
    });
  };
}

/** Resolves once nothing is left to send, or nothing moves any more: a chat that cannot be reached holds up no stop. */
async function outboxAtRest(waiting: () => number, graceEnd: number): Promise<void> {
  let least = waiting();
  let movedAt = Date.now();
  const never = new AbortController().signal;
  while (least > 0 && Date.now() < graceEnd && Date.now() - movedAt < stuckMs) {
    await sleep(20, never);
    const now = waiting();
    if (now < least) movedAt = Date.now();
    least = Math.min(least, now);
  }
}

import type { ChannelStates } from "../../api/status/channel-states.js";
import type { Channel, Publish } from "../../channels/channel.js";
import { isOurs } from "../../channels/platforms.js";
import { superviseChannel } from "../../channels/supervisor.js";
import type { Engine } from "../../engine/engine.js";
import type { Intake } from "../../inbound/intake.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/async/linked.js";
import { type Part, startPart } from "./part.js";
import { underLease } from "./under-lease.js";

export interface ConnectionPorts {
  readonly engine: Pick<Engine, "lease">;
  readonly intake: Pick<Intake, "receive">;
  readonly states: ChannelStates;
  readonly log: Logger;
  /** Ends all of them. */
  readonly signal: AbortSignal;
}

/** The channels that bring messages, each of which can come and go. */
export class Connections {
  readonly #ports: ConnectionPorts;
  readonly #open = new Map<
    string,
    { readonly channel: Channel; readonly part: Part; readonly stop: AbortController }
  >();

  constructor(ports: ConnectionPorts) {
    this.#ports = ports;
  }

  begin(channel: Channel): void {
    const { name } = channel;
    const stop = new AbortController();
    const part = startPart(this.#ports.log, `channel ${name}`, true, () => this.#run(channel, stop.signal));
    this.#open.set(name, { channel, part, stop });
  }

  /** Resolves once nothing of it is under way. What it has not acknowledged stays with its platform. */
  async end(name: string): Promise<void> {
    const connection = this.#open.get(name);
    if (connection === undefined) return;
    connection.stop.abort(new DOMException(`The channel ${name} is switched off`, "AbortError"));
    await connection.part.stopped();
    this.#open.delete(name);
    this.#ports.states.forget(name);
  }

  async stopped(): Promise<void> {
    for (const { part } of [...this.#open.values()].toReversed()) await part.stopped();
  }

  #publishOf(name: string, signal: AbortSignal): Publish {
    return async (received) => {
      const open = [...this.#open.values()].map(({ channel }) => channel);
      return isOurs(name, received.senderId, open)
        ? { status: "refused" }
        : await this.#ports.intake.receive(name, received, signal);
    };
  }

  async #run(channel: Channel, stop: AbortSignal): Promise<void> {
    const { engine, states, log, signal } = this.#ports;
    const { name } = channel;
    using scope = linked(signal);
    const end = (): void => scope.abort(stop.reason);
    stop.addEventListener("abort", end, { once: true });
    states.begin(name);
    const receive = (own: AbortSignal): Promise<void> =>
      superviseChannel(
        channel,
        this.#publishOf(name, scope.signal),
        { log, onState: (to, detail) => states.enter(name, to, detail) },
        own,
      );
    // Two that poll one account would take each other's messages.
    await underLease(engine, `channel:${name}`, receive, { signal: scope.signal, log });
  }
}

import type { Engine } from "../engine/engine.js";
import { messageOf } from "../errors.js";
import type { EventConsumer } from "../events/bus/system-bus.js";
import { draft, type GatewayEvent } from "../events/event.js";
import { systemKey } from "../events/session-key.js";
import type { Logger } from "../log.js";
import { newId } from "../util/ids.js";

/** What is done when another node asks. Undefined: what it is about is not in this process. */
export type NodeCall = (body: unknown) => Promise<unknown>;

export interface NodeCallPorts {
  readonly engine: Pick<Engine, "announce">;
  readonly events: EventConsumer;
  readonly instanceId: string;
  readonly log: Logger;
}

/** Nobody follows it: it carries what nodes ask each other. */
const key = systemKey("nodes");

/**
 * Asks all other nodes to do what only that node can do in whose process something is: to stop a turn, to take the answer
 * to a question. Nothing of it is stored. What is asked may reach nobody, so it only ever speeds up or refuses something.
 */
export class NodeCalls implements Disposable {
  readonly #ports: NodeCallPorts;
  readonly #calls = new Map<string, NodeCall>();
  readonly #waiting = new Map<string, (result: unknown) => void>();
  readonly #undo: readonly (() => void)[];

  constructor(ports: NodeCallPorts) {
    const { events, instanceId } = ports;
    this.#ports = ports;
    const filter = ({ metadata }: GatewayEvent): boolean => metadata.instance_id !== instanceId;
    this.#undo = [
      events.on("node_asked", ({ payload }) => void this.#answer(payload), { sessionKey: key, filter }),
      events.on("node_answered", ({ payload: { call_id: id, result } }) => this.#waiting.get(id)?.(result), {
        sessionKey: key,
        filter,
      }),
    ];
  }

  /** `call` is done here when another node asks for it by this name. */
  handle(name: string, call: NodeCall): void {
    this.#calls.set(name, call);
  }

  /** What the node says that has it; undefined when none has said anything within `ms`. */
  async ask(name: string, body: unknown, ms: number): Promise<unknown> {
    const id = newId("call");
    const { promise, resolve } = settled();
    const timer = setTimeout(() => resolve(undefined), ms);
    this.#waiting.set(id, resolve);
    try {
      await this.#tell(draft("node_asked", { call_id: id, name, body }, { source: "gateway" }));
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  [Symbol.dispose](): void {
    for (const each of this.#undo) each();
    for (const resolve of this.#waiting.values()) resolve(undefined);
  }

  async #answer({
    call_id: id,
    name,
    body,
  }: {
    readonly call_id: string;
    readonly name: string;
    readonly body?: unknown;
  }): Promise<void> {
    try {
      const result = await this.#calls.get(name)?.(body);
      if (result === undefined) return;
      await this.#tell(draft("node_answered", { call_id: id, result }, { source: "gateway" }));
    } catch (error) {
      this.#ports.log.warn(`What another node asked for (${name}) was not done: ${messageOf(error)}`);
    }
  }

  async #tell(event: Parameters<Engine["announce"]>[1]): Promise<void> {
    await this.#ports.engine.announce(key, event);
  }
}

function settled(): { readonly promise: Promise<unknown>; readonly resolve: (result: unknown) => void } {
  let resolve = (_result: unknown): void => {};
  const promise = new Promise<unknown>((done) => {
    resolve = done;
  });
  return { promise, resolve: (result) => resolve(result) };
}

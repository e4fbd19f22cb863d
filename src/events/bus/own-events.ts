import type { GatewayEvent } from "../event.js";
import type { SubscribeOptions } from "./subscribers.js";
import type { EventConsumer } from "./system-bus.js";

/**
 * What this process has made happen, where the bus has the events of other nodes as well: for those who do something
 * about an event that must be done once.
 */
export function ownEvents(events: EventConsumer, instanceId: string): EventConsumer {
  const own = (options: SubscribeOptions = {}): SubscribeOptions => {
    const { filter } = options;
    const isOwn = ({ metadata }: GatewayEvent): boolean => metadata.instance_id === instanceId;
    return { ...options, filter: filter === undefined ? isOwn : (event) => isOwn(event) && filter(event) };
  };
  return Object.freeze({
    on: (types, listener, options) => events.on(types, listener, own(options)),
    once: (types, listener, options) => events.once(types, listener, own(options)),
    onAny: (listener, options) => events.onAny(listener, own(options)),
  } satisfies EventConsumer);
}

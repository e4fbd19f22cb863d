import type { EventConsumer } from "../events/bus/system-bus.js";

/**
 * Something that watches the gateway's events and only decorates: without it every message is still taken, answered
 * and delivered. `reactors.<name>: false` leaves one out.
 */
export interface Reactor {
  /** Key in the config file. */
  readonly name: string;
  /** Begins to listen. Called once. */
  start(bus: EventConsumer): void;
  /** Lets go of everything. Safe to call twice, and without a start. */
  stop(): void;
}

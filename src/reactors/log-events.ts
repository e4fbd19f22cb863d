import type { EventConsumer, Unsubscribe } from "../events/bus/system-bus.js";
import type { EventOf } from "../events/event.js";
import type { Logger } from "../log.js";
import type { Reactor } from "./reactor.js";

export interface LogReactorOptions {
  readonly log: Logger;
  /** What runs is one command, which nobody takes for a gateway. */
  readonly isCommand?: boolean;
}

/** One short line for each turn that ends, each failure, and each change of a connection. Never what people wrote. */
export function createLogReactor({ log, isCommand = false }: LogReactorOptions): Reactor {
  let undo: readonly Unsubscribe[] = [];
  return {
    name: "log",
    start(bus) {
      undo = listen(bus, log, isCommand);
    },
    stop() {
      for (const stop of undo) stop();
      undo = [];
    },
  };
}

function listen(bus: EventConsumer, log: Logger, isCommand: boolean): readonly Unsubscribe[] {
  return [
    bus.on("turn_execution_complete", (event) => {
      const { stop_reason, iterations, duration_ms, usage, tool_calls, cost_usd } = event.payload;
      log.info("Turn complete", {
        ...logFieldsOf(event),
        stop_reason,
        iterations,
        duration_ms,
        input_tokens: usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        output_tokens: usage.output_tokens,
        tools: tool_calls.length,
        ...(cost_usd === undefined ? {} : { cost_usd }),
      });
    }),
    bus.on("turn_execution_failed", (event) => {
      const { code, category, message, recoverable, duration_ms } = event.payload;
      log.warn("Turn failed", { ...logFieldsOf(event), code, category, reason: message, recoverable, duration_ms });
    }),
    bus.on("turn_execution_cancelled", (event) => {
      log.info("Turn cancelled", { ...logFieldsOf(event), reason: event.payload.reason });
    }),
    bus.on("outbound_delivery_changed", (event) => logDelivery(event, log)),
    bus.on("connection_state_changed", ({ payload }) => {
      const { peer, name, from, to, attempt, delay_ms, reason } = payload;
      const fields = { from, to, ...given({ attempt, delay_ms, reason }) };
      const isTrouble = to === "reconnecting" || (to === "disconnected" && reason !== undefined);
      log[isTrouble ? "warn" : "info"](`The ${peer} ${name} is ${to}`, fields);
    }),
    bus.on("error_occurred", (event) => {
      const { code, category, message, recoverable, scope } = event.payload;
      const fields = { ...logFieldsOf(event), code, category, scope, reason: message };
      log[recoverable ? "warn" : "error"]("An error occurred", fields);
    }),
    bus.on("gateway_state_changed", ({ payload: { to, version } }) => {
      if (to === "ready" && !isCommand) log.info("The gateway is ready", { version });
      else log.debug(`The gateway is ${to}`);
    }),
    bus.on("llm_retry_scheduled", (event) => {
      const { attempt, delay_ms, code } = event.payload;
      log.info("The model call is tried again", { ...logFieldsOf(event), attempt, delay_ms, code });
    }),
  ];
}

function logDelivery(event: EventOf<"outbound_delivery_changed">, log: Logger): void {
  const { outbound_id, status, attempt, maybe_duplicate, error } = event.payload;
  const fields = { session: event.session_key, outbound: outbound_id, attempt, ...given({ maybe_duplicate, error }) };
  switch (status) {
    case "queued":
    case "sending":
      return;
    case "sent":
      if (maybe_duplicate === true) log.warn("A reply was sent that may appear twice", fields);
      return;
    case "retrying":
      log.warn("A reply could not be sent and is tried again", fields);
      return;
    case "unknown":
      log.warn("It is not known whether a reply was sent", fields);
      return;
    case "refused":
    case "dead_letter":
      log.error("A reply could not be delivered", { ...fields, status });
      return;
    default:
      status satisfies never;
  }
}

function logFieldsOf(event: { readonly session_key: string; readonly turn_id?: string }): {
  readonly session: string;
  readonly turn?: string;
} {
  return { session: event.session_key, ...(event.turn_id === undefined ? {} : { turn: event.turn_id }) };
}

/** Without what is undefined. */
function given(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

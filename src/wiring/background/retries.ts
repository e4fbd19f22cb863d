import { retryTurn } from "../../api/turns/retry-turn.js";
import { WaitingRetries } from "../../api/turns/waiting-retries.js";
import { waitingRetries } from "../../events/retries/waiting.js";
import type { Releases } from "../../util/async/releases.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import { type GatewayOptions, isWorking } from "../options.js";
import { retryPorts } from "../turns/retry-ports.js";

const firstMs = 5000;

/** Tries turns again that have failed because a provider was down, once it answers. */
export async function startRetries(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  releases: Releases,
): Promise<void> {
  if (!isWorking(options)) return;
  const { log, pauses } = options;
  const ports = { ...retryPorts(assistant), engine: core.engine, sessions: core.sessions };
  const waiting = new WaitingRetries({
    records: await core.engine.records.open(waitingRetries),
    events: core.events,
    retry: (turn) => retryTurn(ports, turn, "gateway"),
    answers: assistant.mind.answers,
    firstMs: pauses?.providerCheckMs ?? firstMs,
    log,
  });
  core.lives.onLeave("retries", (key) => waiting.forget(key));
  const stopping = new AbortController();
  const running = core.process.alone("retries", (signal) => waiting.run(signal), stopping.signal);
  releases.defer(async () => {
    stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await running;
  });
}

import type { AgentPorts } from "../../agent/ports.js";
import { destinationOf, repliesOf } from "../../bus/replies.js";
import { createAnsweredReactor } from "../../reactors/answered-questions.js";
import type { GatewayReadings } from "../../reactors/gateway-metrics.js";
import { createLiveAnswersReactor } from "../../reactors/live-answers.js";
import { createLogReactor } from "../../reactors/log-events.js";
import { createMetricsReactor } from "../../reactors/metrics.js";
import type { Reactor } from "../../reactors/reactor.js";
import { createTypingReactor } from "../../reactors/typing.js";
import type { Releases } from "../../util/async/releases.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import type { OpenedStatus } from "../operations/status.js";
import type { GatewayOptions } from "../options.js";

/** A growing answer is cut again with each look: no platform shows more than this in one message. */
const mostOfFirstPiece = 20_000;

/** What only decorates, as the config wants it. */
export interface OpenedReactors {
  readonly onModelAnswered: AgentPorts["onModelAnswered"];
  /** For `/metrics`; empty where nothing is counted. */
  readonly metricsText: (isReady: boolean) => string;
  /** Begins to listen. */
  start(): void;
}

/** What metrics read besides the events. */
export interface Watched {
  readonly status: OpenedStatus;
  /** Undefined: no traces are sent. */
  readonly spans: (() => GatewayReadings["spans"]) | undefined;
}

export function openReactors(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  watched: Watched,
  releases: Releases,
): OpenedReactors {
  const { channels, previews } = assistant.platforms;
  const { config, log, added } = options;
  const others = added?.reactors ?? [];
  const wanted = config.config.reactors;
  const { engine, ownEvents: events } = core;
  const metrics = wanted.metrics ? createMetricsReactor(readingsOf(options, core, assistant, watched)) : undefined;
  const reactors: Reactor[] = [];
  if (wanted.log) reactors.push(createLogReactor({ log, isCommand: options.runs?.channels === false }));
  if (metrics !== undefined) reactors.push(metrics);
  if (wanted.typing) reactors.push(createTypingReactor({ channels, log }));
  if (wanted.answers) reactors.push(createAnsweredReactor({ channels, engine, log }));
  if (wanted.live) {
    const firstPiece = async (key: string, messageId: string, turnId: string, text: string) => {
      const work = (await engine.waiting("inbound", key)).find(({ id }) => id === messageId);
      // What a sub-agent says reaches people through its parent alone.
      if (work === undefined || work.body.taskId !== undefined) return undefined;
      const begin = text.slice(0, mostOfFirstPiece);
      return repliesOf(channels.get(destinationOf(work.body)?.channel ?? ""), work.body, turnId, begin, turnId)[0]
        ?.body;
    };
    reactors.push(createLiveAnswersReactor({ channels, previews, firstPiece, log }));
  }
  return {
    onModelAnswered:
      metrics && (({ model, ...times }) => metrics.noteModelCall({ provider: providerOf(model), ...times })),
    metricsText: (isReady) => metrics?.prometheusText(isReady) ?? "",
    start() {
      for (const reactor of [...reactors, ...others]) {
        reactor.start(events);
        releases.defer(() => reactor.stop(), `reactor ${reactor.name}`);
      }
    },
  };
}

/** A model's label begins with its provider. */
function providerOf(label: string): string {
  return label.split("/", 1)[0] ?? label;
}

function readingsOf(
  { version }: GatewayOptions,
  { engine }: Core,
  { inbound }: Assistant,
  { status: { channels }, spans }: Watched,
): (isReady: boolean) => GatewayReadings {
  return (isReady) => {
    const { writable, inboundWaiting, outboundWaiting, deadLetters } = engine.status();
    const { oldest = {}, syncSeconds } = engine.measures?.() ?? {};
    return {
      version,
      isReady,
      isWritable: writable,
      queues: {
        inbound: { waiting: inboundWaiting, oldestAt: oldest.inbound },
        outbound: { waiting: outboundWaiting, oldestAt: oldest.outbound },
      },
      deadLetters,
      syncSeconds,
      openQuestions: inbound.questions.list().length,
      runningTurns: inbound.running.size,
      channels: channels.list().map(({ name, state, lastSeenAt }) => ({
        name,
        isConnected: state === "connected",
        lastSeenAt: lastSeenAt === undefined ? undefined : Date.parse(lastSeenAt),
      })),
      spans: spans?.(),
    };
  };
}

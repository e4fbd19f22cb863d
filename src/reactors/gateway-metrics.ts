import type { SpreadCounts } from "../util/spread.js";
import { type Reading, readFamily, readHistogram } from "./prometheus.js";

/** How the gateway is at the moment. Times are Unix ms. */
export interface GatewayReadings {
  readonly version: string;
  readonly isReady: boolean;
  readonly isWritable: boolean;
  readonly queues: Readonly<
    Record<"inbound" | "outbound", { readonly waiting: number; readonly oldestAt: number | undefined }>
  >;
  readonly deadLetters: number;
  /** Of the journal; undefined for an engine without one. */
  readonly syncSeconds: SpreadCounts | undefined;
  readonly openQuestions: number;
  readonly runningTurns: number;
  readonly channels: readonly {
    readonly name: string;
    readonly isConnected: boolean;
    readonly lastSeenAt?: number | undefined;
  }[];
  /** Undefined: no traces are sent. */
  readonly spans: Readonly<Record<"sent" | "dropped", number>> | undefined;
}

export function gatewayText(readings: GatewayReadings, now: number): string {
  const { queues, channels, syncSeconds, spans } = readings;
  const ages = Object.entries(queues).map(
    ([name, { oldestAt }]): Reading => [oldestAt === undefined ? 0 : Math.max(0, (now - oldestAt) / 1000), name],
  );
  const gauge = (name: string, help: string, value: readonly Reading[], label?: string): string =>
    readFamily("gauge", name, help, value, label);
  return [
    gauge("maxclaw_build_info", "Always 1; the label names the version.", [[1, readings.version]], "version"),
    gauge("maxclaw_ready", "1 while messages are taken.", [[Number(readings.isReady)]]),
    gauge("maxclaw_journal_writable", "0 while the disk refuses writes.", [[Number(readings.isWritable)]]),
    gauge(
      "maxclaw_queue_messages",
      "Messages that wait or are in work.",
      Object.entries(queues).map(([name, { waiting }]) => [waiting, name]),
      "queue",
    ),
    gauge("maxclaw_queue_oldest_age_seconds", "Age of the oldest message in the queue; 0 without one.", ages, "queue"),
    gauge("maxclaw_dead_letters", "Messages that were given up.", [[readings.deadLetters]]),
    gauge("maxclaw_open_questions", "Questions that wait for a person.", [[readings.openQuestions]]),
    gauge("maxclaw_running_turns", "Turns that run.", [[readings.runningTurns]]),
    gauge(
      "maxclaw_channel_connected",
      "1 while the channel is connected.",
      channels.map(({ name, isConnected }) => [Number(isConnected), name]),
      "channel",
    ),
    gauge(
      "maxclaw_channel_last_seen_timestamp_seconds",
      "Unix time of the last proof that the channel works.",
      channels.map(({ name, lastSeenAt }) => [lastSeenAt === undefined ? undefined : lastSeenAt / 1000, name]),
      "channel",
    ),
    syncSeconds === undefined
      ? ""
      : readHistogram("maxclaw_journal_sync_duration_seconds", "Time of one sync of the journal.", syncSeconds),
    readFamily(
      "counter",
      "maxclaw_trace_spans_total",
      "Spans that were sent to the collector, or dropped.",
      spans === undefined ? [] : Object.entries(spans).map(([result, count]) => [count, result]),
      "result",
    ),
  ].join("");
}

import type { LiveConfig } from "../../config/live/live-config.js";
import type { Config } from "../../config/schema.js";
import { freshMask } from "../../log/mask.js";
import type { GatewayReadings } from "../../reactors/gateway-metrics.js";
import type { Releases } from "../../util/async/releases.js";
import type { Core } from "../core/core.js";
import { followPart } from "../live/live.js";
import type { GatewayOptions } from "../options.js";

type Spans = GatewayReadings["spans"];

/** Traces to a collector, where one is named, also once the config names another. Gives what was sent, for the metrics. */
export async function openTelemetry(
  options: GatewayOptions,
  core: Core,
  live: LiveConfig,
  releases: Releases,
): Promise<() => Spans> {
  let counts: (() => Spans) | undefined;
  await followPart(options, live, ["telemetry"], releases, async ({ telemetry }, parts) => {
    counts = await startTraces(options, core, { telemetry, secrets: () => live.secrets }, parts);
  });
  return () => counts?.();
}

interface Traces {
  readonly telemetry: Config["telemetry"];
  readonly secrets: () => readonly string[];
}

async function startTraces(
  { env = {}, log, version }: GatewayOptions,
  { ownEvents: events }: Core,
  { telemetry, secrets }: Traces,
  releases: Releases,
): Promise<(() => Spans) | undefined> {
  const isNamed = telemetry.otlpEndpoint ?? Object.keys(env).find((name) => name.startsWith("OTEL_"));
  if (isNamed === undefined) return undefined;
  const { readTelemetrySettings } = await import("../../telemetry/settings.js");
  const settings = readTelemetrySettings(telemetry, env);
  if (typeof settings === "string") log.warn(settings);
  if (settings === undefined || typeof settings === "string") return undefined;
  const { SpanExporter } = await import("../../telemetry/exporter.js");
  const { TurnSpans } = await import("../../telemetry/turn-spans.js");
  const { content, ...where } = settings;
  const exporter = releases.use(new SpanExporter({ ...where, version, log }), "traces");
  const spans = new TurnSpans({
    add: (span) => exporter.add(span),
    content,
    mask: freshMask(() => [...secrets(), ...Object.values(where.headers)]),
  });
  const undo = spans.listen(events);
  releases.defer(undo);
  return () => exporter.counts;
}

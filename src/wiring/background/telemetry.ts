import { createMask } from "../../log/mask.js";
import type { GatewayReadings } from "../../reactors/gateway-metrics.js";
import type { Releases } from "../../util/async/releases.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";

/** Traces to a collector, where one is named. Gives what was sent, for the metrics. */
export async function openTelemetry(
  { config, env = {}, log, version }: GatewayOptions,
  { events }: Core,
  releases: Releases,
): Promise<(() => GatewayReadings["spans"]) | undefined> {
  const isNamed = config.config.telemetry.otlpEndpoint ?? Object.keys(env).find((name) => name.startsWith("OTEL_"));
  if (isNamed === undefined) return undefined;
  const { readTelemetrySettings } = await import("../../telemetry/settings.js");
  const settings = readTelemetrySettings(config.config.telemetry, env);
  if (typeof settings === "string") log.warn(settings);
  if (settings === undefined || typeof settings === "string") return undefined;
  const { SpanExporter } = await import("../../telemetry/exporter.js");
  const { TurnSpans } = await import("../../telemetry/turn-spans.js");
  const { content, ...where } = settings;
  const exporter = releases.use(new SpanExporter({ ...where, version, log }), "traces");
  const spans = new TurnSpans({
    add: (span) => exporter.add(span),
    content,
    mask: createMask([...config.secrets, ...Object.values(where.headers)]),
  });
  const undo = spans.listen(events);
  releases.defer(undo);
  return () => exporter.counts;
}

import { trimEndWhere } from "../util/text/trim-where.js";
/** Where traces go, and what is in them. */
export interface TelemetrySettings {
  /** The whole address that spans are posted to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the resource, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  /** Messages, tool inputs and outputs go along. */
  readonly content: boolean;
  readonly isCompressed: boolean;
  /** For one request. */
  readonly timeoutMs: number;
}

export interface TelemetryConfig {
  readonly otlpEndpoint?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const defaultTimeoutMs = 10_000;

/**
 * The config goes before the environment, whose names are those of OpenTelemetry. A text says why no traces are sent
 * although an endpoint is named; undefined: none is.
 *
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export function readTelemetrySettings(
  config: TelemetryConfig,
  env: Environment,
): TelemetrySettings | string | undefined {
  const url = endpointOf(config, env);
  if (url === undefined || env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") return undefined;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    return "No traces are sent: the address of the collector does not begin with http:// or https://. Check telemetry.otlpEndpoint or OTEL_EXPORTER_OTLP_ENDPOINT.";
  const of = (name: string): string | undefined =>
    textOf(env[`OTEL_EXPORTER_OTLP_TRACES_${name}`]) ?? textOf(env[`OTEL_EXPORTER_OTLP_${name}`]);
  const timeoutMs = Number(of("TIMEOUT"));
  return {
    url,
    headers: { ...pairsOf(of("HEADERS")), ...config.headers },
    resource: {
      "service.name": "maxclaw",
      ...pairsOf(env.OTEL_RESOURCE_ATTRIBUTES),
      ...serviceName(textOf(env.OTEL_SERVICE_NAME)),
    },
    content: config.content,
    isCompressed: of("COMPRESSION") === "gzip",
    timeoutMs: timeoutMs > 0 ? timeoutMs : defaultTimeoutMs,
  };
}

/** Only the address for traces alone is used as it is written. */
function endpointOf({ otlpEndpoint }: TelemetryConfig, env: Environment): string | undefined {
  const ofTraces = textOf(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
  if (otlpEndpoint === undefined && ofTraces !== undefined) return ofTraces;
  const base = otlpEndpoint ?? textOf(env.OTEL_EXPORTER_OTLP_ENDPOINT);
  if (base === undefined) return undefined;
  return /\/v1\/traces\/?$/.test(base) ? base : `${trimEndWhere(base, (unit) => unit === "/")}/v1/traces`;
}

function textOf(value: string | undefined): string | undefined {
  return value?.trim() || undefined;
}

function serviceName(name: string | undefined): Readonly<Record<string, string>> {
  return name === undefined ? {} : { "service.name": name };
}

/** `a=b,c=d%20e`; what does not look like that is left out. */
function pairsOf(text: string | undefined): Readonly<Record<string, string>> {
  const pairs = (text ?? "").split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, Math.max(at, 0)).trim();
    return name === "" ? [] : [[name, decoded(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

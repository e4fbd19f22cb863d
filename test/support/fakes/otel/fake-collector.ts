import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { gunzipSync } from "node:zlib";
import type { Span } from "../../../../src/telemetry/span.js";
import { startSite, type WebSite } from "../web-site.js";
import { protocolProblems, readProtocol } from "./proto-json.js";

export interface CollectorAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Reads the request and never answers. */
  readonly hangs?: boolean;
}

/** What a request brought that the collector could read. */
export interface Export {
  readonly headers: IncomingHttpHeaders;
  readonly spans: readonly Span[];
  readonly resource: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface FakeCollector extends AsyncDisposable {
  readonly url: string;
  readonly exports: readonly Export[];
  /** What no collector would take, or would take for something else. */
  readonly problems: readonly string[];
  /** All spans that were answered with 200. */
  taken(): readonly Span[];
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** An OTLP collector on loopback that holds each request against the published definitions. */
export async function startFakeCollector(
  answer: (index: number) => CollectorAnswer = () => ({}),
): Promise<FakeCollector> {
  const protocol = readProtocol();
  const exports: Export[] = [];
  const taken: Span[] = [];
  const problems: string[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const { headers } = request;
    const text = (headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
    if (request.method !== "POST" || request.url !== "/v1/traces") problems.push(`${request.method} ${request.url}`);
    if (headers["content-type"] !== "application/json") problems.push(`type ${headers["content-type"]}`);
    const body: Body = JSON.parse(text);
    problems.push(...protocolProblems(protocol, "ExportTraceServiceRequest", body));
    const spans = body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    for (const { name, startTimeUnixNano, endTimeUnixNano } of spans)
      if (BigInt(endTimeUnixNano) < BigInt(startTimeUnixNano)) problems.push(`${name} ends before it starts`);
    const { status = 200, headers: more = {}, body: said = "{}", hangs = false } = answer(exports.length);
    exports.push({ headers, spans, text, resource: factsOf(body.resourceSpans[0]?.resource.attributes ?? []) });
    if (status === 200 && !hangs) taken.push(...spans);
    if (!hangs) response.writeHead(status, { "Content-Type": "application/json", ...more }).end(said);
  };
  const site: WebSite = await startSite((request, response) => {
    take(request, response).catch((error: unknown) => {
      problems.push(String(error));
      response.writeHead(400).end();
    });
  });
  return {
    url: site.url,
    exports,
    problems,
    taken: () => taken,
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

/** Attributes as texts. */
export function factsOf(attributes: Span["attributes"]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [held] = Object.values(value);
      return [key, typeof held === "object" ? JSON.stringify(held) : String(held)];
    }),
  );
}

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedToolCall {
  readonly id?: string;
  readonly name: string;
  /** The call's JSON, cut as the wire will carry it. */
  readonly jsonPieces?: readonly string[];
  /** Sent as one piece of JSON; used where `jsonPieces` is absent. */
  readonly input?: unknown;
}

/** One answer of a model, for either wire. Without any field: an empty answer that ends at once. */
export interface ScriptedAnswer {
  readonly thinking?: string | readonly string[];
  /** Proof of the thinking; only Anthropic's wire carries it. */
  readonly signature?: string;
  /** Each string is one chunk on the wire. */
  readonly text?: string | readonly string[];
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Pieces of several calls take turns on the wire. */
  readonly interleaved?: boolean;
  /** Default: `tool_use` with tool calls, else `end_turn`. */
  readonly stopReason?: "end_turn" | "tool_use" | "max_tokens" | "refusal";
  /** Default 10 in, 5 out; `false`: the server tells none. */
  readonly usage?:
    | false
    | { readonly input?: number; readonly output?: number; readonly cacheRead?: number; readonly cacheWrite?: number };

  /** Any status but 200 answers with `body` and no stream. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. With status 200 it replaces the stream. */
  readonly body?: unknown;
  /** Answered as one JSON document, as servers do that cannot stream. */
  readonly whole?: boolean;

  /** Before the first byte. */
  readonly delayMs?: number;
  /** Between the chunks. */
  readonly chunkDelayMs?: number;
  /** Sends nothing from the frame with this text on until the promise is kept. */
  readonly pause?: { readonly before: string; readonly until: Promise<unknown> };
  /** Sends so many frames, then destroys the socket. */
  readonly cutAfter?: number;
  /** Sends so many frames, then ends the response as if all was well. */
  readonly endAfter?: number;
  /** `start`: never sends a byte. `middle`: everything but the end, then silence. `end`: all of it, but stays open. */
  readonly hang?: "start" | "middle" | "end";
  /** Raw bytes instead of the end. */
  readonly garbage?: string;
  /** An error told in the middle of the stream, instead of the end. */
  readonly streamError?: { readonly type: string; readonly message: string };
  /** Puts frames that nobody knows between the others. */
  readonly unknownFrames?: boolean;
  /** So many comments behind the first frame. */
  readonly keepAlives?: number;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bodyText: string;
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The text of the last user message, whatever the wire. */
  readonly userText: string;
  /** How many requests came before. */
  readonly index: number;
  /** Resolves when the exchange is over; true when the client went away before the answer was complete. */
  readonly closedEarly: Promise<boolean>;
}

/** One answer for every request, a list that is used up, or a function. */
export type AnswerScript =
  | ScriptedAnswer
  | readonly ScriptedAnswer[]
  | ((request: RecordedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface FakeModelServer extends AsyncDisposable {
  /** As a config's `apiBase` wants it. */
  readonly apiBase: string;
  readonly requests: readonly RecordedRequest[];
  /** Replaces the script; a new list starts at its beginning. */
  setAnswer(answer: AnswerScript): void;
  /** Resolves once so many requests have come in; rejects after 5 s. */
  waitForRequests(count: number): Promise<void>;
}

/** How one wire writes an answer. */
export interface Wire {
  readonly basePath: string;
  /** The frames of the stream, the last `endFrames` of which make its end. */
  frames(answer: ScriptedAnswer, model: string): { readonly frames: readonly string[]; readonly endFrames: number };
  whole(answer: ScriptedAnswer, model: string): unknown;
  errorFrame(error: { readonly type: string; readonly message: string }): string;
  errorBody(status: number): unknown;
  readonly unknownFrame: string;
  /** What the API would refuse in a request. */
  problemsOf(bodyText: string): readonly string[];
}

export function list(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

export function piecesOf(call: ScriptedToolCall): readonly string[] {
  return call.jsonPieces ?? (call.input === undefined ? [] : [JSON.stringify(call.input)]);
}

export function usageOf(answer: ScriptedAnswer): {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
} {
  return { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, ...(answer.usage === false ? {} : answer.usage) };
}

/** A tool call's place and its next piece of JSON, in the order of the wire. */
export function orderedPieces(answer: ScriptedAnswer): readonly { readonly call: number; readonly json: string }[] {
  const calls = (answer.toolCalls ?? []).map(piecesOf);
  if (answer.interleaved !== true) return calls.flatMap((pieces, call) => pieces.map((json) => ({ call, json })));
  const longest = Math.max(0, ...calls.map((pieces) => pieces.length));
  return Array.from({ length: longest }).flatMap((_, n) =>
    calls.flatMap((pieces, call) => {
      const json = pieces[n];
      return json === undefined ? [] : [{ call, json }];
    }),
  );
}

/** Starts an HTTP server on a free port of the loopback that plays the script and records what it was asked. */
export async function startFakeModel(wire: Wire, script: AnswerScript): Promise<FakeModelServer> {
  const state = { script, used: 0 };
  const requests: RecordedRequest[] = [];
  const arrivals = new Set<() => void>();

  const next = async (request: RecordedRequest): Promise<ScriptedAnswer> => {
    const current = state.script;
    if (typeof current === "function") return current(request);
    if (!isList(current)) return current;
    const answer = current[state.used];
    state.used += 1;
    return answer ?? { status: 500, body: { error: { message: "the script has no answer left" } } };
  };

  const server = createServer((incoming, response) => {
    void record(incoming, response, requests.length)
      .then(async (request) => {
        requests.push(request);
        for (const arrived of arrivals) arrived();
        const answer = await next(request);
        // Whatever a test is about: a request that the real API would refuse fails it.
        const problems = request.bodyText === "" ? [] : wire.problemsOf(request.bodyText);
        const refusal = { status: 400, body: { error: { message: `invalid request: ${problems.join("; ")}` } } };
        await play(wire, problems.length > 0 ? refusal : answer, request, response);
      })
      .catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { message: `the fake model failed: ${String(error)}` } }));
      });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;

  return {
    apiBase: `http://127.0.0.1:${port}${wire.basePath}`,
    requests,
    setAnswer(answer) {
      state.script = answer;
      state.used = 0;
    },
    waitForRequests: (count) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (requests.length < count) return;
          clearTimeout(timer);
          arrivals.delete(check);
          resolve();
        };
        const timer = setTimeout(() => {
          arrivals.delete(check);
          reject(new Error(`the fake model got ${requests.length} requests in time, not ${count}`));
        }, 20_000);
        arrivals.add(check);
        check();
      }),
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function isList(script: AnswerScript): script is readonly ScriptedAnswer[] {
  return Array.isArray(script);
}

async function record(incoming: IncomingMessage, response: ServerResponse, index: number): Promise<RecordedRequest> {
  const closedEarly = new Promise<boolean>((resolve) => {
    response.once("close", () => resolve(!response.writableFinished));
  });
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece);
  const bodyText = Buffer.concat(pieces).toString("utf8");
  const body: Record<string, unknown> = bodyText === "" ? {} : JSON.parse(bodyText);
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers,
    bodyText,
    body,
    userText: lastUserText(body.messages),
    index,
    closedEarly,
  };
}

interface WireMessage {
  readonly role?: string;
  readonly content?: string | readonly { readonly type?: string; readonly text?: string }[];
}

function lastUserText(messages: unknown): string {
  if (!Array.isArray(messages)) return "";
  for (const message of [...(messages as WireMessage[])].reverse()) {
    if (message.role !== "user") continue;
    if (typeof message.content === "string") return message.content;
    const texts = (message.content ?? []).filter((part) => part.type === "text").map((part) => part.text ?? "");
    if (texts.length > 0) return texts.join("\n\n");
  }
  return "";
}

async function play(
  wire: Wire,
  answer: ScriptedAnswer,
  request: RecordedRequest,
  response: ServerResponse,
): Promise<void> {
  if (answer.hang === "start") return;
  if (answer.delayMs !== undefined) await wait(answer.delayMs);
  const model = typeof request.body.model === "string" ? request.body.model : "model";
  const status = answer.status ?? 200;
  if (status !== 200 || answer.body !== undefined || answer.whole === true) {
    const body = answer.body ?? (status === 200 ? wire.whole(answer, model) : wire.errorBody(status));
    const type = typeof body === "string" ? "text/plain" : "application/json";
    response.writeHead(status, { "content-type": type, ...answer.headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", ...answer.headers });
  await writeFrames(framesToPlay(wire, answer, model), answer, response);
}

function framesToPlay(wire: Wire, answer: ScriptedAnswer, model: string): readonly string[] {
  const { frames, endFrames } = wire.frames(answer, model);
  const withoutEnd = frames.slice(0, frames.length - endFrames);
  let played: readonly string[] = frames;
  if (answer.hang === "middle") played = withoutEnd;
  if (answer.garbage !== undefined) played = [...withoutEnd, answer.garbage];
  if (answer.streamError !== undefined) played = [...withoutEnd, wire.errorFrame(answer.streamError)];
  if (answer.unknownFrames === true) played = played.flatMap((frame) => [wire.unknownFrame, frame]);
  if (answer.keepAlives !== undefined)
    played = played.toSpliced(1, 0, ...Array.from({ length: answer.keepAlives }, () => ": keep-alive\n\n"));
  return played.slice(0, answer.cutAfter ?? answer.endAfter ?? played.length);
}

async function writeFrames(frames: readonly string[], answer: ScriptedAnswer, response: ServerResponse): Promise<void> {
  const { chunkDelayMs, pause } = answer;
  if (chunkDelayMs === undefined && pause === undefined) {
    await new Promise((resolve) => response.write(frames.join("") || "\n", resolve));
  } else {
    for (const frame of frames) {
      if (pause !== undefined && frame.includes(pause.before)) await pause.until;
      if (response.destroyed) return;
      response.write(frame);
      if (chunkDelayMs !== undefined) await wait(chunkDelayMs);
    }
  }
  if (answer.cutAfter !== undefined) {
    // The frames must be out before the socket goes.
    await wait(10);
    response.destroy();
  } else if (answer.hang === undefined) {
    response.end();
  }
}

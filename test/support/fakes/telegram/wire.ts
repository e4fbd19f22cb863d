import type { IncomingMessage, ServerResponse } from "node:http";

export type Json = Readonly<Record<string, unknown>>;

export interface FakeFile {
  readonly filename: string;
  readonly bytes: Buffer;
}

/** What came with a call. */
export interface Sent {
  readonly params: Json;
  readonly file: FakeFile | undefined;
}

/** A call of the Bot API. */
export interface Call extends Sent {
  readonly method: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface Reply {
  readonly status: number;
  readonly body: Json;
}

export function success(result: unknown): Reply {
  return { status: 200, body: { ok: true, result } };
}

export function refusal(status: number, description: string, retryAfter?: number): Reply {
  return {
    status,
    body: {
      ok: false,
      error_code: status,
      description,
      ...(retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } }),
    },
  };
}

export function write(response: ServerResponse, reply: Reply): void {
  if (response.destroyed || response.socket === null || response.socket.destroyed) return;
  const body = JSON.stringify(reply.body);
  response
    .writeHead(reply.status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
    .end(body);
}

export async function readSent(request: IncomingMessage, path: URL): Promise<Sent> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const query = Object.fromEntries(path.searchParams);
  if (chunks.length === 0) return { params: query, file: undefined };
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("multipart/form-data")) return readForm(Buffer.concat(chunks), type, query);
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  return { params: isObject(body) ? { ...query, ...body } : query, file: undefined };
}

/** By hand, because grammY writes its parts with less space than Node's own reader asks for. */
function readForm(body: Buffer, type: string, query: Json): Sent {
  const boundary = `--${/boundary=(.+)$/.exec(type)?.[1] ?? ""}`;
  const params: Record<string, unknown> = { ...query };
  let file: FakeFile | undefined;
  for (const part of body.toString("latin1").split(boundary).slice(1, -1)) {
    const [head = "", ...rest] = part.split("\r\n\r\n");
    const content = rest.join("\r\n\r\n").replace(/\r\n$/, "");
    const bytes = Buffer.from(content, "latin1");
    const name = /[; ]name="?([^";\r\n]+)/.exec(head)?.[1] ?? "";
    const filename = /filename="?([^";\r\n]+)/.exec(head)?.[1];
    if (filename !== undefined) file = { filename, bytes };
    // A field that holds an object comes as JSON.
    else params[name] = /^[[{]/.test(content) ? JSON.parse(bytes.toString("utf8")) : bytes.toString("utf8");
  }
  return { params, file };
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

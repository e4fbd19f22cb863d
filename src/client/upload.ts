import { ClientError } from "./client-error.js";
import { isRecord } from "./frames.js";

/** A file that the gateway keeps, to go along with a message. */
export interface UploadedFile {
  /** On the gateway's machine. */
  readonly path: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Where the gateway gives it back, e.g. `/api/uploads/1a2b3c4d5e6f-report.pdf`. */
  readonly url: string;
}

export interface UploadOptions {
  /** Default: a Blob's own type, else what the name's end stands for. */
  readonly mimeType?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type Upload = (content: Blob | Uint8Array, filename: string, options?: UploadOptions) => Promise<UploadedFile>;

interface Gateway {
  readonly url: string | (() => string | Promise<string>);
  readonly token?: string | undefined;
}

/** Files go over HTTP, beside the WebSocket. */
export function createUpload({ url, token }: Gateway): Upload {
  return async (content, filename, { mimeType, signal } = {}) => {
    const type = mimeType ?? (content instanceof Blob ? content.type : "");
    const headers = {
      // Half a character would be refused; the encoder has none.
      "x-filename": encodeURIComponent(new TextDecoder().decode(new TextEncoder().encode(filename))),
      "content-type": type === "" ? "application/octet-stream" : type,
      ...(token === undefined || token === "" ? {} : { authorization: `Bearer ${token}` }),
    };
    const address = uploadAddress(typeof url === "string" ? url : await url());
    const bytes = content instanceof Blob ? content : new Uint8Array(content);
    let response: Response;
    let body: unknown;
    try {
      response = await fetch(address, { method: "POST", headers, body: bytes, signal: signal ?? null });
      body = await response.json();
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ClientError("lost", `${filename} could not be sent. Is it still there, and the gateway too?`);
    }
    if (!response.ok) {
      const { error, code } = isRecord(body) ? body : {};
      if (code === "closed") throw new ClientError("lost", `${filename} could not be sent: the gateway is stopping.`);
      const reason = typeof error === "string" ? error : `HTTP ${response.status}`;
      throw new ClientError("refused", reason, typeof code === "string" ? code : "");
    }
    return fileIn(body);
  };
}

function uploadAddress(url: string): string {
  const target = new URL(url);
  if (/^wss?:$/.test(target.protocol)) {
    target.protocol = target.protocol === "wss:" ? "https:" : "http:";
    target.pathname = target.pathname.replace(/ws\/?$/, "");
  }
  if (!target.pathname.endsWith("/")) target.pathname += "/";
  target.pathname += "api/upload";
  target.search = "";
  target.hash = "";
  return target.href;
}

function fileIn(body: unknown): UploadedFile {
  if (isRecord(body)) {
    const { path, filename, mimeType, sizeBytes, url } = body;
    if (
      typeof path === "string" &&
      typeof filename === "string" &&
      typeof mimeType === "string" &&
      typeof sizeBytes === "number" &&
      typeof url === "string"
    )
      return { path, filename, mimeType, sizeBytes, url };
  }
  throw new ClientError("garbled", "The gateway's answer names no file. Is it of the same version?");
}

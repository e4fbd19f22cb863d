import { isUtf8 } from "node:buffer";
import { basename } from "node:path";
import { addAbortSignal, PassThrough } from "node:stream";
import { RequestError } from "../../errors.js";
import { baseOf } from "../access/sign-in.js";
import { sendDownload } from "../artifacts.js";
import { type Exchange, paramOf, sendJson } from "../exchange.js";
import type { Route } from "./routes.js";

/** Files of people: in, for the `attachments` of a message, and out again. */
export const uploadRoutes: readonly Route[] = [
  { method: "POST", path: "/api/upload", takesFile: true, handle: upload },
  {
    method: "GET",
    path: "/api/uploads/:file",
    handle: async (x) => sendDownload(x, await x.api.openUpload(paramOf(x, "file"))),
  },
  {
    method: "POST",
    path: "/api/uploads/:file/words",
    handle: async (x) =>
      sendJson(x.response, 200, { text: await x.api.transcribeUpload(paramOf(x, "file"), x.signal) }),
  },
];

const maxNameChars = 1000;
/** What programs send where nobody named a type. */
const sayNothing: ReadonlySet<string> = new Set(["application/octet-stream", "application/x-www-form-urlencoded"]);

/** The body is the file. */
async function upload(x: Exchange): Promise<void> {
  const { request, response, api, signal } = x;
  const filename = filenameOf(request.headers["x-filename"]);
  const mimeType = mimeTypeOf(request.headers["content-type"], request.headers["content-encoding"]);
  // Between the two, because a writer that gives up ends its source, and this connection still has to bring the answer.
  const content = new PassThrough();
  content.on("error", () => undefined);
  addAbortSignal(signal, content);
  request.pipe(content);
  try {
    const sizeBytes = Number(request.headers["content-length"] ?? 0);
    const file = await api.upload({ filename, mimeType, sizeBytes, content });
    sendJson(response, 201, { ...file, url: `${baseOf(x)}/api/uploads/${encodeURIComponent(basename(file.path))}` });
  } finally {
    request.unpipe(content);
    content.destroy();
  }
}

/** The header is needed, and not the query: no form of a foreign page can send it. @throws {RequestError} 400 */
function filenameOf(header: string | readonly string[] | undefined): string {
  const encoded = typeof header === "string" ? header : "";
  try {
    const name = decodeURIComponent(fromUtf8(encoded));
    if (name.trim() !== "" && name.length <= maxNameChars) return name;
  } catch {
    // Told below.
  }
  throw new RequestError("Send the file's name, percent-encoded, in the header X-Filename.", {
    status: 400,
    code: "bad_request",
  });
}

/** Node reads headers as Latin-1, and programs that do not encode a name send UTF-8. */
function fromUtf8(header: string): string {
  const bytes = Buffer.from(header, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : header;
}

/**
 * What is said in earnest: curl calls every body a form's fields.
 * @throws {RequestError} 415 for what would not be the file itself
 */
function mimeTypeOf(type: string | undefined, coding: string | undefined): string | undefined {
  const plain = type?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (plain.startsWith("multipart/") || (coding !== undefined && coding !== "identity"))
    throw new RequestError("Send the file itself as the body: no form, not compressed.", {
      status: 415,
      code: "unsupported_media_type",
    });
  return /^[\w.+-]{1,80}\/[\w.+-]{1,100}$/.test(plain) && !sayNothing.has(plain) ? plain : undefined;
}

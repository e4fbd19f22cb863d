import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { RequestError } from "../errors.js";
import { contentTypeOf } from "../util/files/content-types.js";
import { diagramHeaders, pagePermissions, pagePolicy } from "./security-headers.js";
import type { Target } from "./target.js";

/** What is smaller fits into one packet. */
const leastToShrink = 1000;
const isText = /^text\/|json|xml|javascript/;

const notBuilt = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>maxclaw</title></head>
<body><h1>The gateway is running</h1>
<p>Its web page has not been built. In the folder of the program run <code>npm install</code> and
<code>npm run build</code>, then load this page again.</p></body></html>
`;

/**
 * Serves the built web page. A path without an extension that is not a file is the page's own business and gets
 * index.html. Nothing outside `webRoot` is served, whatever the path or a link says.
 *
 * @throws {RequestError} 404
 */
export async function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  webRoot: string,
): Promise<void> {
  const name = target.segments.join("/");
  const path = await findFile(webRoot, target.segments);
  if (path !== undefined) return sendFile(request, response, { path, name, isPacked: false });
  const packed = await findFile(webRoot, [...target.segments.slice(0, -1), `${target.segments.at(-1)}.gz`]);
  if (packed !== undefined) return sendFile(request, response, { path: packed, name, isPacked: true });
  if (target.segments.at(-1)?.includes(".") === true) throw notFound(target.path);
  const index = await findFile(webRoot, ["index.html"]);
  if (index !== undefined) return sendFile(request, response, { path: index, name: "index.html", isPacked: false });
  setHeaders(response, "index.html");
  response.writeHead(200, { "Content-Type": contentTypeOf(".html"), "Cache-Control": "no-store" }).end(notBuilt);
}

interface PageFile {
  readonly path: string;
  /** By which it is asked for. */
  readonly name: string;
  /** On the disk it is packed with gzip, under its name with `.gz`. */
  readonly isPacked: boolean;
}

function setHeaders(response: ServerResponse, name: string): void {
  const own = { "Content-Security-Policy": pagePolicy, "Permissions-Policy": pagePermissions };
  for (const [header, value] of Object.entries(name.startsWith("diagrams/") ? diagramHeaders : own))
    response.setHeader(header, value);
}

async function findFile(webRoot: string, segments: readonly string[]): Promise<string | undefined> {
  if (segments.some((part) => part === "" || part.startsWith(".") || /[/\\:]/.test(part))) return undefined;
  try {
    const root = await realpath(webRoot);
    const path = await realpath(join(root, ...segments));
    return path.startsWith(root + sep) && (await stat(path)).isFile() ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Vite puts a hash into the name of each asset: another content has another name. */
function isHashed(name: string): boolean {
  return /^assets\/.+-[\w-]{8,}\.\w+$/.test(name);
}

async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { path, name, isPacked }: PageFile,
): Promise<void> {
  const { size, mtimeMs } = await stat(path);
  const type = contentTypeOf(extname(name));
  const canShrink = isPacked || (size >= leastToShrink && isText.test(type));
  const shrinks = canShrink && takesGzip(request.headers["accept-encoding"]);
  setHeaders(response, name);
  if (canShrink) response.appendHeader("Vary", "Accept-Encoding");
  const etag = `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}${shrinks ? "-gzip" : ""}"`;
  response.setHeader("ETag", etag);
  response.setHeader("Cache-Control", isHashed(name) ? "public, max-age=31536000, immutable" : "no-cache");
  const known = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known?.includes(etag)) {
    response.writeHead(304).end();
    return;
  }
  const isAsStored = shrinks === isPacked;
  response.writeHead(200, {
    "Content-Type": type,
    ...(shrinks ? { "Content-Encoding": "gzip" } : {}),
    ...(isAsStored ? { "Content-Length": size } : {}),
  });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  const stored = createReadStream(path);
  const sending = isAsStored
    ? pipeline(stored, response)
    : pipeline(stored, isPacked ? createGunzip() : createGzip(), response);
  // A reader that goes away is not a fault of ours.
  await sending.catch(() => response.destroy());
}

/** `gzip;q=0` refuses it. */
function takesGzip(accepted: string | readonly string[] | undefined): boolean {
  return /(?:^|,)\s*(?:gzip|\*)\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/i.test(String(accepted ?? ""));
}

function notFound(path: string): RequestError {
  return new RequestError(`There is nothing at ${path}.`, { status: 404, code: "not_found" });
}

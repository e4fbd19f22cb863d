import { pipeline } from "node:stream/promises";
import type { OpenedFile } from "../util/files/opened-file.js";
import { type Exchange, paramOf } from "./exchange.js";

/** A file that people were given. */
export async function sendArtifact(x: Exchange): Promise<void> {
  await sendDownload(x, await x.api.openArtifact(paramOf(x, "key"), paramOf(x, "id")));
}

/** A file that came with a message of a session. */
export async function sendReceived(x: Exchange): Promise<void> {
  await sendDownload(x, await x.api.openReceived(paramOf(x, "key"), paramOf(x, "file")));
}

/** A file as a download. The headers of every answer keep what is in it from running in the name of the page. Closes it. */
export async function sendDownload(x: Exchange, file: OpenedFile): Promise<void> {
  const { filename, mimeType, sizeBytes, handle } = file;
  await using _file = handle;
  const { request, response } = x;
  response.writeHead(200, {
    "Content-Type": mimeType.startsWith("text/") ? `${mimeType}; charset=utf-8` : mimeType,
    "Content-Length": sizeBytes,
    "Content-Disposition": dispositionOf(filename),
    "Cache-Control": "private, no-store",
  });
  if (request.method === "HEAD" || sizeBytes === 0) {
    response.end();
    return;
  }
  // A reader that goes away is not a fault of ours. What has grown since is as long as was said.
  const bytes = handle.createReadStream({ autoClose: false, start: 0, end: sizeBytes - 1 });
  await pipeline(bytes, response).catch(() => response.destroy());
}

/** RFC 6266: a plain name for old clients, the true one beside it. */
export function dispositionOf(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

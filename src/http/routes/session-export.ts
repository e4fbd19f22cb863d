import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { RequestError } from "../../errors.js";
import { dispositionOf } from "../artifacts.js";
import { type Exchange, paramOf } from "../exchange.js";

/** A conversation as a download. Its length is known when it has ended. */
export async function sendExport(x: Exchange): Promise<void> {
  const { request, response, target } = x;
  const format = target.query.get("format") ?? "markdown";
  if (format !== "markdown" && format !== "json")
    throw new RequestError("format: must be markdown or json.", { status: 400, code: "bad_request" });
  const { filename, mimeType, pieces } = await x.api.exportSession(paramOf(x, "key"), format);
  response.writeHead(200, {
    "Content-Type": `${mimeType}; charset=utf-8`,
    "Content-Disposition": dispositionOf(filename),
    "Cache-Control": "private, no-store",
  });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  // A reader that goes away is not a fault of ours.
  await pipeline(Readable.from(pieces, { objectMode: false }), response).catch(() => response.destroy());
}

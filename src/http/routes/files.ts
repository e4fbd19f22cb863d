import { z } from "zod";
import { messageOf, RequestError } from "../../errors.js";
import { openEventStream } from "../event-stream.js";
import { bodyOf, type Exchange } from "../exchange.js";
import type { Route } from "./routes.js";

/** For commands on this machine that copy or check the gateway's files. */
export const filesRoutes: readonly Route[] = [{ method: "POST", path: "/api/files/hold", handle: hold }];

/** Keeps the files still for as long as the caller stays connected. `held` says which part of the journal counts. */
async function hold(x: Exchange): Promise<void> {
  await bodyOf(x, z.object({}));
  if (x.api.holdFiles === undefined)
    throw new RequestError("This gateway keeps nothing in files.", { status: 501, code: "not_implemented" });
  using out = openEventStream(x);
  await using held = await x.api.holdFiles();
  void out.send({ event: "held", data: JSON.stringify(held.segment) });
  const lost = new Promise<void>((resolve) => {
    held.lost.addEventListener("abort", () => resolve(), { once: true });
  });
  await Promise.race([out.closed, lost]);
  if (held.lost.aborted) void out.send({ event: "lost", data: JSON.stringify({ error: messageOf(held.lost.reason) }) });
}

import type { LogLevel, LogLine, SystemApi } from "../../api/system-api.js";
import { RequestError } from "../../errors.js";
import { sendDownload } from "../artifacts.js";
import { openEventStream } from "../event-stream.js";
import { type Exchange, paramOf, sendJson, sendSlowJson } from "../exchange.js";
import { integerOf } from "../target.js";
import type { Route } from "./routes.js";

/** The machine, the log, backups and versions. */
export const systemRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/system",
    handle: async (x) => sendJson(x.response, 200, { disk: await systemOf(x).disk() }),
  },
  {
    method: "POST",
    path: "/api/doctor",
    handle: (x) => sendSlowJson(x.response, systemOf(x).examine(x.signal)),
  },
  { method: "GET", path: "/api/logs", handle: logs },
  { method: "GET", path: "/api/logs/stream", handle: followLogs },
  {
    method: "GET",
    path: "/api/backups",
    handle: async (x) => sendJson(x.response, 200, { backups: await systemOf(x).backups() }),
  },
  {
    method: "POST",
    path: "/api/backups",
    handle: (x) => sendSlowJson(x.response, systemOf(x).makeBackup(x.signal)),
  },
  {
    method: "GET",
    path: "/api/backups/:name",
    handle: async (x) => sendDownload(x, await systemOf(x).openBackup(paramOf(x, "name"))),
  },
  {
    method: "GET",
    path: "/api/update",
    handle: (x) => sendSlowJson(x.response, systemOf(x).newestVersion(x.signal)),
  },
];

async function logs(x: Exchange): Promise<void> {
  const lines: LogLine[] = [];
  for await (const line of systemOf(x).logs({ ...queryOf(x), follow: false }, x.signal)) lines.push(line);
  sendJson(x.response, 200, { lines: lines.map(toWire) });
}

async function followLogs(x: Exchange): Promise<void> {
  const query = { ...queryOf(x), follow: true };
  const system = systemOf(x);
  using out = openEventStream(x);
  out.begin();
  try {
    for await (const line of system.logs(query, x.signal))
      await out.send({ event: "line", data: JSON.stringify(toWire(line)) });
  } catch (error) {
    // The reader has gone.
    if (!x.signal.aborted) throw error;
  }
}

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** @throws {RequestError} 400 */
function queryOf({ target: { query } }: Exchange): { readonly lines: number; readonly level: LogLevel | undefined } {
  const text = query.get("level");
  const level = levels.find((one) => one === text);
  if (text !== null && level === undefined)
    throw new RequestError(`level: must be one of ${levels.join(", ")}.`, { status: 400, code: "bad_request" });
  return { lines: integerOf(query, "lines", { min: 0, max: 10_000, default: 200 }), level };
}

/** A line that could be read needs no text of its own. */
function toWire({ text, level, time, message, fields }: LogLine): object {
  return level === undefined ? { text } : { level, time, message, fields };
}

/** @throws {RequestError} 404 where the gateway is a part of another program */
function systemOf({ api }: Exchange): SystemApi {
  if (api.system !== undefined) return api.system;
  throw new RequestError("This gateway is a part of another program, which looks after it.", {
    status: 404,
    code: "not_found",
  });
}

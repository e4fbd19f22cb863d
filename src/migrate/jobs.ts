import { importsOf, ownNameOf } from "../channels/platforms.js";
import { isObject, type JsonObject } from "./openclaw/json5.js";
import { at, objectAt, textAt, toTime } from "./read-files.js";
import type { Problem } from "./source.js";

/** Whether a job's answer can go there. */
function isReachable(channel: string): boolean {
  return channel === "webui" || channel === "cli" || importsOf(channel) !== undefined;
}

/**
 * The jobs of nanobot and OpenClaw, which are alike, as the Go maxclaw wrote its own: what the next start of the gateway
 * takes over. Those that will never run again are told. `accounts`: our names by `channel:account`, as they are called there.
 */
export function toGoJobs(
  stored: JsonObject,
  file: string,
  now: number,
  problems: Problem[],
  accounts: ReadonlyMap<string, string> = new Map(),
): JsonObject {
  const jobs: [string, JsonObject][] = [];
  const entries = Array.isArray(stored.jobs) ? stored.jobs : Object.values(objectAt(stored, "jobs"));
  for (const [index, entry] of entries.entries()) {
    const id = textAt(entry, "id") ?? String(index + 1);
    const what = `${file}: the job ${textAt(entry, "name") ?? id}`;
    const message = textAt(entry, "payload", "message") ?? textAt(entry, "payload", "text");
    const schedule = isObject(entry) ? toSchedule(objectAt(entry, "schedule")) : undefined;
    if (schedule === undefined || message === undefined) {
      problems.push({ what, why: "it has no time or no message that can be read" });
      continue;
    }
    if (schedule.type === "once" && Number(schedule.atMs) <= now) {
      problems.push({ what, why: "its time has passed" });
      continue;
    }
    const theirs = firstText(entry, ["delivery", "channel"], ["payload", "channel"], ["payload", "originChannel"]);
    const channel = theirs === undefined ? undefined : ownNameOf(theirs);
    const account = accounts.get(`${theirs}:${textAt(entry, "delivery", "accountId") ?? ""}`);
    const to = firstText(entry, ["delivery", "to"], ["payload", "to"], ["payload", "originChatId"]);
    const canAnswer = channel !== undefined && isReachable(channel) && to !== undefined;
    const chat = canAnswer ? chatIn(channel, to, firstText(entry, ["sessionKey"], ["payload", "sessionKey"])) : {};
    if (!canAnswer && channel !== undefined && channel !== "last")
      problems.push({
        what,
        why: `it is imported, but answers on the page: maxclaw cannot answer on ${channel} there`,
      });
    jobs.push([
      id,
      {
        name: textAt(entry, "name"),
        schedule,
        payload: { message, ...(canAnswer ? { channels: [account ?? channel], ...chat } : {}) },
        enabled: at(entry, "enabled") !== false,
      },
    ]);
  }
  return Object.fromEntries(jobs);
}

function toSchedule(schedule: JsonObject): JsonObject | undefined {
  switch (schedule.kind) {
    case "every":
      return typeof schedule.everyMs === "number" ? { type: "every", everyMs: schedule.everyMs } : undefined;
    case "cron": {
      const timeZone = textAt(schedule, "tz");
      const expr = textAt(schedule, "expr");
      return expr === undefined ? undefined : { type: "cron", expr, ...(timeZone === undefined ? {} : { timeZone }) };
    }
    case "at": {
      const time = toTime(schedule.atMs ?? schedule.at);
      return time === undefined ? undefined : { type: "once", atMs: Date.parse(time) };
    }
    default:
      return undefined;
  }
}

/**
 * `telegram:42` and `channel:42` are how OpenClaw writes the chat 42, `-1001:topic:7` a topic of the group -1001. nanobot
 * has the topic in the key of the conversation that made the job.
 */
function chatIn(channel: string, to: string, sessionKey = ""): JsonObject {
  const { chatOf, otherNames = [] } = importsOf(channel) ?? {};
  const names = [channel, "tg", ...otherNames].join("|");
  const begin = new RegExp(`^(?:(?:${names}):)?(?:(channel|chat|group|direct|dm|user):)?`);
  const [before = "", kind] = begin.exec(to) ?? [];
  const plain = to.slice(before.length);
  if (chatOf === undefined) return { to: plain };
  const [chat = plain, topic] = (kind === undefined ? undefined : chatOf(plain, kind)) ?? chatOf(plain) ?? [];
  const [, ofKey] = /:(?:topic|thread):(\d+)$/.exec(sessionKey.includes(`${chat}:`) ? sessionKey : "") ?? [];
  const thread = topic ?? ofKey;
  return thread === undefined ? { to: chat } : { to: chat, thread };
}

function firstText(root: unknown, ...paths: readonly (readonly string[])[]): string | undefined {
  for (const path of paths) {
    const found = textAt(root, ...path);
    if (found !== undefined) return found;
  }
  return undefined;
}

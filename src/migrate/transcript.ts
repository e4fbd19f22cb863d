import { basename } from "node:path";
import { isObject, type JsonObject } from "./openclaw/json5.js";
import type { JsonLines } from "./read-files.js";
import { toTime } from "./read-files.js";
import type { FoundSession } from "./source.js";

/** A session document from the messages of another program's file. Undefined when nobody says anything in it. */
export function toSession(
  key: string,
  from: string,
  { entries, damaged }: { readonly entries: readonly JsonObject[]; readonly damaged: JsonLines["damaged"] },
): FoundSession | undefined {
  const messages: { role: string; content: string; timestamp?: string }[] = [];
  let silent = 0;
  for (const entry of entries) {
    const content = textOf(entry.content);
    if ((entry.role !== "user" && entry.role !== "assistant") || content === "") {
      silent += 1;
      continue;
    }
    const timestamp = toTime(entry.timestamp);
    messages.push({ role: entry.role, content, ...(timestamp === undefined ? {} : { timestamp }) });
  }
  const [first] = messages;
  if (first === undefined) return undefined;
  const times = messages.flatMap(({ timestamp }) => timestamp ?? []);
  const said = messages.find(({ role }) => role === "user") ?? first;
  const remarks = [
    ...(silent === 0 ? [] : [`${silent} tool calls, results and other entries without words stay behind`]),
    ...(damaged.length === 0 ? [] : [`${damaged.length} lines cannot be read: ${damaged.slice(0, 5).join(", ")}`]),
  ];
  const document = {
    key,
    messages,
    metadata: {
      createdAt: times[0],
      lastActivity: times.at(-1),
      summary: said.content.slice(0, 100),
    },
  };
  return {
    from,
    key,
    document,
    messages: messages.length,
    ...(remarks.length === 0 ? {} : { remark: remarks.join("; ") }),
  };
}

/** A key under which our own sessions can be; chats that are none get one on the page. */
export function toSessionKey(key: string, program: string): string {
  const own = /^(?!system:|cron:|heartbeat:|agent:|hook:|subagent:|dream:|api:)[a-z0-9-]+:\S+$/;
  return own.test(key) ? key : pageKey(program, key);
}

/** The session on the page that keeps a conversation without a chat of its own. */
export function pageKey(program: string, name: string): string {
  return `webui:${program}-${basename(name)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")}`;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content.trim();
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part) => (isObject(part) && part.type === "text" && typeof part.text === "string" ? [part.text] : []))
    .join("\n")
    .trim();
}

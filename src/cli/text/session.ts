import { z } from "zod";
import { sizeOf } from "../../client/notices.js";
import { dim, harmless, print, printNote, printTable } from "./output.js";

const list = z.object({
  sessions: z.array(
    z.object({
      key: z.string(),
      title: z.string().default(""),
      summary: z.string().default(""),
      messageCount: z.number(),
      lastMessageAt: z.string().default(""),
      lastMessage: z.string().default(""),
    }),
  ),
  total: z.number(),
});

const timelineEntry = z.object({
  text: z.string().optional(),
  activity: z.object({ type: z.string(), summary: z.string(), detail: z.string().optional() }).optional(),
});

const filePart = z.object({
  type: z.enum(["file", "image"]),
  path: z.string(),
  filename: z.string().optional(),
  size_bytes: z.number().optional(),
});

const document = z.object({
  key: z.string(),
  title: z.string().optional(),
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.string(),
      timestamp: z.string(),
      parts: z.array(z.looseObject({ type: z.string() })).default([]),
      timeline: z.array(timelineEntry).default([]),
    }),
  ),
  metadata: z.object({ state: z.string(), summary: z.string().optional() }),
});

const fork = z.object({ key: z.string(), forkedFrom: z.object({ key: z.string(), seq: z.number() }) });

/** The new key alone on stdout, for scripts; around it what to do with it. */
export function printFork(answer: unknown): void {
  const { key, forkedFrom } = fork.parse(answer);
  print(key);
  printNote(`Copied ${forkedFrom.key} up to event ${forkedFrom.seq}. Go on with: maxclaw agent -s ${key}`);
}

export function printSessions(page: unknown): void {
  const { sessions, total } = list.parse(page);
  if (total === 0) {
    print("There is no conversation yet.");
    return;
  }
  printTable(
    ["KEY", "MESSAGES", "LAST", "TITLE"],
    sessions.map(({ key, messageCount, lastMessageAt, title, summary, lastMessage }) => [
      key,
      String(messageCount),
      localTime(lastMessageAt),
      (title || summary || lastMessage).slice(0, 60),
    ]),
  );
  if (total > sessions.length) print(`… ${total - sessions.length} more: see --limit`);
}

export function printDocument(answer: unknown): void {
  const { key, title, messages, metadata } = document.parse(answer);
  print(`${harmless(title ?? metadata.summary ?? key)} (${key}, ${metadata.state})`);
  for (const { role, content, timestamp, parts, timeline } of messages) {
    print(`\n${dim(`${role} · ${localTime(timestamp)}`, process.stdout)}`);
    // What was said last is the answer itself.
    for (const entry of timeline.slice(0, timeline.at(-1)?.text === content ? -1 : undefined)) printStep(entry);
    if (content !== "") print(harmless(content));
    for (const part of parts) printFile(part);
  }
}

/** What was done on the way: tool calls, questions with their answers, words between. */
function printStep({ text = "", activity }: z.infer<typeof timelineEntry>): void {
  if (activity === undefined) {
    print(harmless(text));
    return;
  }
  print(dim(harmless(`[${activity.type}] ${activity.summary}`), process.stdout));
  if (activity.type === "question") print(dim(harmless(`[answer] ${activity.detail ?? "none yet"}`), process.stdout));
}

/** Where a file is; nothing for what is not one. */
function printFile(part: unknown): void {
  const file = filePart.safeParse(part).data;
  if (file === undefined) return;
  const size = file.size_bytes === undefined ? "" : `, ${sizeOf(file.size_bytes)}`;
  print(dim(harmless(`[file] ${file.filename ?? "picture"}${size}: ${file.path}`), process.stdout));
}

/** `2026-11-21 14:03` by this machine's clock. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

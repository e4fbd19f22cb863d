import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { sleep } from "../util/async/sleep.js";
import { cutText } from "../util/text/cut-text.js";
import { appendOwnFile, type OwnFile, readOwnFile } from "./own-file.js";
import { type MarkForeign, paragraphsOf } from "./paragraphs.js";

/** What was said in one conversation on one day. */
export interface DayOfSession {
  readonly key: string;
  readonly title?: string;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
  /** Others had a say in what was said. */
  readonly isForeign?: boolean;
}

export interface DailySummaryPorts {
  /** `memory/HISTORY.md` */
  readonly file: OwnFile;
  /** The owner's conversations with messages in this time, Unix ms; `until` is exclusive. */
  readonly read: (from: number, until: number) => Promise<readonly DayOfSession[]>;
  /** A summary by a model; undefined when none can be asked now. */
  readonly summarise: (day: string, text: string, signal: AbortSignal) => Promise<string | undefined>;
  /** The last day that has been looked at, `YYYY-MM-DD`. */
  readonly lastDay: { readonly get: () => string | undefined; readonly set: (day: string) => Promise<void> };
  readonly markForeign?: MarkForeign;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Start-up has better things to do. */
const firstMs = 60_000;
const checkMs = 15 * 60_000;
/** After a longer pause older days are left out. */
const maxDays = 7;
const maxSessionText = 4000;
const maxDayText = 60_000;

/** Writes what happened each day into HISTORY.md, once per day, from the next day on. Runs until `signal` aborts. */
export async function runDailySummaries(ports: DailySummaryPorts, signal: AbortSignal): Promise<void> {
  await sleep(firstMs, signal).catch(() => undefined);
  while (!signal.aborted) {
    try {
      await summariseMissedDays(ports, signal);
    } catch (error) {
      if (!signal.aborted) ports.log.warn(`The daily summary was not written: ${messageOf(error)}`, { error });
    }
    await sleep(checkMs, signal).catch(() => undefined);
  }
}

/** Days are those of this machine's time zone. The heading in the file, not the record, keeps a day from coming twice. */
export async function summariseMissedDays(ports: DailySummaryPorts, signal: AbortSignal): Promise<void> {
  const today = startOfDay(ports.now());
  const last = ports.lastDay.get();
  for (const start of daysBefore(today, last)) {
    signal.throwIfAborted();
    const day = nameOfDay(start);
    await summariseDay(ports, day, start, nextDay(start), signal);
    await ports.lastDay.set(day);
  }
}

async function summariseDay(
  ports: DailySummaryPorts,
  day: string,
  from: Date,
  until: Date,
  signal: AbortSignal,
): Promise<void> {
  const heading = `## ${day}`;
  const before = (await readOwnFile(ports.file)) ?? "";
  if (before.split(/\r?\n/).some((line) => line.trim() === heading)) return;
  const read = async (): Promise<readonly DayOfSession[]> =>
    (await ports.read(from.getTime(), until.getTime())).filter(({ messages }) => messages.length > 0);
  const sessions = await read();
  if (sessions.length === 0) return;
  const text = (await ports.summarise(day, transcript(sessions), signal)) ?? digest(sessions);
  const left = new Set((await read()).map(({ key }) => key));
  // One was deleted while the model read it.
  if (!sessions.every(({ key }) => left.has(key))) return await summariseDay(ports, day, from, until, signal);
  const gap = before === "" ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  const entry = `${heading}\n\n${text.trim()}`;
  if (sessions.some(({ isForeign }) => isForeign === true)) await ports.markForeign?.(paragraphsOf(entry), ports.file);
  // One write of one piece: after a crash the heading is there, or nothing is.
  await appendOwnFile(ports.file, `${gap}${entry}\n`);
}

function transcript(sessions: readonly DayOfSession[]): string {
  const texts = sessions.map(({ key, title, messages }) => {
    const lines = messages.map(({ role, content }) => `${role}: ${content}`).join("\n");
    return `# ${title ?? key}\n${cutText(lines, maxSessionText)}`;
  });
  return cutText(texts.join("\n\n"), maxDayText);
}

/** Without a model: what each conversation was about, in the person's own first words. */
function digest(sessions: readonly DayOfSession[]): string {
  return sessions
    .map(({ key, title, messages }) => {
      const first = messages.find(({ role }) => role === "user")?.content ?? "";
      const about = title ?? cutText(first.replace(/\s+/g, " ").trim(), 120);
      return `- ${about === "" ? key : about} (${key}, ${messages.length} messages)`;
    })
    .join("\n");
}

/** The days that are over and not summarised, oldest first. On the very first run only yesterday. */
function daysBefore(today: Date, last: string | undefined): readonly Date[] {
  const days: Date[] = [];
  for (let day = previousDay(today); days.length < (last === undefined ? 1 : maxDays); day = previousDay(day)) {
    if (last !== undefined && nameOfDay(day) <= last) break;
    days.unshift(day);
  }
  return days;
}

function startOfDay(at: Date): Date {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate());
}

function nextDay(start: Date): Date {
  return new Date(start.getFullYear(), start.getMonth(), start.getDate() + 1);
}

function previousDay(start: Date): Date {
  return new Date(start.getFullYear(), start.getMonth(), start.getDate() - 1);
}

function nameOfDay(start: Date): string {
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${start.getFullYear()}-${two(start.getMonth() + 1)}-${two(start.getDate())}`;
}

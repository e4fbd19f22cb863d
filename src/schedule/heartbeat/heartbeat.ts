import { messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";

/** What the assistant answers when nobody has to hear anything. */
export const nothingToSay = "HEARTBEAT_OK";

/** What the assistant is told at each beat; the list itself is in the system prompt. */
export const heartbeatPrompt = `[Heartbeat] Look through the Heartbeat section and do what is due now. Your answer goes to the person's chat, whose conversation you do not see here: say what they need to know, in full. If there is nothing new for them, answer only ${nothingToSay}.`;

export interface HeartbeatPorts {
  readonly everyMs: number;
  /** `08:00-22:00`; always when it is absent. */
  readonly activeHours: string | undefined;
  readonly timeZone: string;
  /** memory/heartbeat.md as it is now. */
  readonly tasks: () => Promise<string | undefined>;
  /** The last beat, or what it may use today, leaves no room for another one. */
  readonly isBusy: () => Promise<boolean>;
  /** Accepts the beat of this moment (Unix ms), durable once it resolves; the same moment again changes nothing. */
  readonly accept: (due: number) => Promise<void>;
  /** The last moment that was dealt with, Unix ms; it outlives the process. */
  readonly lastDue: { get(): number | undefined; set(due: number): Promise<void> };
  readonly now: () => number;
  readonly log: Logger;
}

/** A beat that begins within this time after it was due is on time; a later one is left out. */
const lateMs = 60_000;
/** Clocks are set and machines sleep. */
const lookMs = 60_000;

/**
 * One beat at each moment that is a multiple of `everyMs`, until `signal` aborts. Moments that passed while nothing ran
 * are left out: a heartbeat is about now.
 */
export async function runHeartbeat(ports: HeartbeatPorts, signal: AbortSignal): Promise<void> {
  const { everyMs, now, log } = ports;
  while (!signal.aborted) {
    await beat(ports).catch((error: unknown) => {
      log.warn(`The heartbeat was not started, it is tried again: ${messageOf(error)}`);
    });
    const restMs = everyMs - (now() % everyMs);
    await sleep(Math.max(50, Math.min(restMs, lookMs)), signal).catch(() => undefined);
  }
}

async function beat(ports: HeartbeatPorts): Promise<void> {
  const { everyMs, lastDue, activeHours, timeZone, now } = ports;
  const due = now() - (now() % everyMs);
  const last = lastDue.get();
  if (last !== undefined && due <= last) return;
  const isDue =
    now() - due <= lateMs &&
    isActive(due, activeHours, timeZone) &&
    !(await ports.isBusy()) &&
    hasTasks(await ports.tasks());
  if (isDue) await ports.accept(due);
  await lastDue.set(due);
}

/** By the clock on the wall of that zone, whatever is done to it in spring and autumn. The end does not belong to them. */
export function isActive(at: number, hours: string | undefined, timeZone: string): boolean {
  if (hours === undefined) return true;
  const [from = "", until = ""] = hours.split("-");
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const time = clock.format(at);
  return from < until ? time >= from && time < until : time >= from || time < until;
}

/** False while there are only headings, comments, rules, empty points and ticked boxes with what belongs to them. */
export function hasTasks(text: string | undefined): boolean {
  const lines = (text ?? "").replaceAll(/<!--[\s\S]*?(?:-->|$)/g, "").split("\n");
  let tickedIndent: number | undefined;
  for (const line of lines) {
    if (line.trim() === "" || /^(?:[-*_=]\s*){3,}$/.test(line.trim())) continue;
    const indent = line.length - line.trimStart().length;
    const [, box, rest = line.trim()] = /^\s*(?:[-*+]|\d+[.)])(?:\s+|$)(?:\[([ xX]?)\]\s*)?(.*)$/.exec(line) ?? [];
    const isTicked = box?.toLowerCase() === "x";
    if (isTicked) tickedIndent = Math.min(indent, tickedIndent ?? indent);
    const belongsToTicked = tickedIndent !== undefined && indent > tickedIndent && box !== " " && box !== "";
    if (isTicked || belongsToTicked) continue;
    tickedIndent = undefined;
    if (!isIdle(rest.trim())) return true;
  }
  return false;
}

/** A heading, or a point without words. */
function isIdle(text: string): boolean {
  return text === "" || /^#{1,6}(?:\s|$)/.test(text);
}

/** A text without what a template says word for word: what a new workspace's file says about itself is nothing to do. */
export function withoutLinesOf(template = "", text: string | undefined): string | undefined {
  const own = new Set(template.split("\n").map((line) => line.trim()));
  return text
    ?.split("\n")
    .filter((line) => !own.has(line.trim()))
    .join("\n");
}

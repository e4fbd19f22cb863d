import type { Cron } from "croner";
import { RequestError } from "../errors.js";
import { localTime } from "../util/local-time.js";
import type { JobWish, Schedule } from "./job.js";

export type CronClass = typeof Cron;

/** Reads cron expressions and local times. */
export interface Times {
  /** The first time after `after`, Unix ms; undefined when there is none any more. */
  next(schedule: Schedule, after: number): number | undefined;
  /** The last time that is not later than `until`; undefined when there was none. */
  last(schedule: Schedule, until: number): number | undefined;
  /** @throws {RequestError} with a sentence for the person who wrote it */
  parse(wish: When, now: number): Schedule;
  /** The schedule itself where the wish names none; its fields in another time zone where it names only that. @throws {RequestError} */
  change(schedule: Schedule, wish: When, now: number): Schedule;
}

type When = Pick<JobWish, "at" | "every" | "cron" | "timeZone">;

const leastEveryMs = 60_000;
const farMs = 50 * 365 * 86_400_000;
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

export function createTimes(CronOf: CronClass, defaultTimeZone: () => string): Times {
  return new CronTimes(CronOf, defaultTimeZone);
}

class CronTimes implements Times {
  readonly #Cron: CronClass;
  readonly #defaultTimeZone: () => string;

  constructor(CronOf: CronClass, defaultTimeZone: () => string) {
    this.#Cron = CronOf;
    this.#defaultTimeZone = defaultTimeZone;
  }

  next(schedule: Schedule, after: number): number | undefined {
    switch (schedule.kind) {
      case "at":
        return schedule.at > after ? schedule.at : undefined;
      case "every": {
        const { anchor, everyMs } = schedule;
        return anchor + Math.max(1, Math.floor((after - anchor) / everyMs) + 1) * everyMs;
      }
      case "cron":
        return this.#cronOf(schedule.expression, schedule.timeZone).nextRun(new Date(after))?.getTime();
      default:
        return schedule satisfies never;
    }
  }

  last(schedule: Schedule, until: number): number | undefined {
    switch (schedule.kind) {
      case "at":
        return schedule.at <= until ? schedule.at : undefined;
      case "every": {
        const { anchor, everyMs } = schedule;
        const count = Math.floor((until - anchor) / everyMs);
        return count >= 1 ? anchor + count * everyMs : undefined;
      }
      case "cron":
        // Croner's bound is exclusive.
        return this.#cronOf(schedule.expression, schedule.timeZone)
          .previousRuns(2, new Date(until + 1000))
          .find((at) => at.getTime() <= until)
          ?.getTime();
      default:
        return schedule satisfies never;
    }
  }

  parse({ at, every, cron, timeZone = this.#defaultTimeZone() }: When, now: number): Schedule {
    if ([at, every, cron].filter((given) => given !== undefined && given !== "").length !== 1)
      throw wrong("Say when with exactly one of `at`, `every` and `cron`.");
    assertTimeZone(timeZone);
    if (at) return { kind: "at", at: this.#parseMoment(at, timeZone, now) };
    if (every) return { kind: "every", everyMs: parseDuration(every), anchor: now };
    return this.#parseCron((cron ?? "").trim(), timeZone, now);
  }

  change(schedule: Schedule, wish: When, now: number): Schedule {
    const timeZone = wish.timeZone ?? (schedule.kind === "cron" ? schedule.timeZone : undefined);
    if (wish.at || wish.every || wish.cron) return this.parse({ ...wish, timeZone }, now);
    if (schedule.kind !== "cron" || timeZone === undefined || timeZone === schedule.timeZone) return schedule;
    return this.parse({ cron: schedule.expression, timeZone }, now);
  }

  #cronOf(expression: string, timezone: string): Cron {
    return new this.#Cron(expression, { timezone, paused: true, mode: "5-part" });
  }

  #parseCron(expression: string, timeZone: string, now: number): Schedule {
    try {
      if (this.#cronOf(expression, timeZone).nextRun(new Date(now)) === null)
        throw wrong(`"${expression}" never comes.`);
    } catch (error) {
      if (error instanceof RequestError) throw error;
      throw wrong(
        `"${expression}" is not a cron expression. It has five fields (minute hour day month weekday), e.g. "0 9 * * 1-5".`,
      );
    }
    return { kind: "cron", expression, timeZone };
  }

  #parseMoment(text: string, timeZone: string, now: number): number {
    const trimmed = text.trim();
    const day = /^\d{4}-\d\d-\d\d/.exec(trimmed)?.[0];
    if (day !== undefined && !isDay(day)) throw wrong(`${day} is not a day of the calendar.`);
    const isMoment = /(?:Z|[+-]\d\d:?\d\d)$/i.test(trimmed);
    const at = isMoment ? Date.parse(trimmed) : this.#readLocalTime(trimmed, timeZone);
    if (Number.isNaN(at))
      throw wrong(`"${trimmed}" is not a time. Write 2026-11-22T09:00, or with an offset 2026-11-22T09:00+01:00.`);
    if (at <= now) throw wrong(`${localTime(at, timeZone)} has passed already.`);
    if (at > now + farMs) throw wrong("That is more than 50 years away.");
    return at;
  }

  #readLocalTime(text: string, timezone: string): number {
    const parts = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
    if (parts === null) return Number.NaN;
    const [, year, month, day, hour = "00", minute = "00", second = "00"] = parts;
    try {
      const cron = new this.#Cron(`${year}-${month}-${day}T${hour}:${minute}:${second}`, { timezone, paused: true });
      return cron.nextRun(new Date(0))?.getTime() ?? Number.NaN;
    } catch {
      return Number.NaN;
    }
  }
}

/** What reads dates takes 30 February for 2 March. */
function isDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

function assertTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    throw wrong(`"${timeZone}" is not a time zone. Use a name such as Europe/Berlin or Asia/Shanghai.`);
  }
}

function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(s|m|h|d|w)?$/.exec(text.trim().toLowerCase());
  const everyMs = Number(match?.[1]) * (units[match?.[2] ?? "s"] ?? Number.NaN);
  if (Number.isNaN(everyMs)) throw wrong(`"${text.trim()}" is not a length of time. Write 90m, 2h or 1d.`);
  if (everyMs < leastEveryMs) throw wrong("The shortest time between two runs is one minute.");
  if (everyMs > farMs) throw wrong("That is more than 50 years.");
  return everyMs;
}

/** For people: `every 2 h`, `0 9 * * 1-5 (Europe/Berlin)`, `once at 2026-11-22 15:40 (Europe/Berlin)`, in the reader's zone. */
export function describeSchedule(schedule: Schedule, timeZone: string): string {
  switch (schedule.kind) {
    case "at":
      return `once at ${localTime(schedule.at, timeZone)}`;
    case "every": {
      const unit = (["w", "d", "h", "m"] as const).find((name) => schedule.everyMs % (units[name] ?? 1) === 0) ?? "s";
      return `every ${schedule.everyMs / (units[unit] ?? 1)} ${unit}`;
    }
    case "cron":
      return `${schedule.expression} (${schedule.timeZone})`;
    default:
      return schedule satisfies never;
  }
}

function wrong(sentence: string): RequestError {
  return new RequestError(sentence, { status: 400, code: "bad_request" });
}

import { ownTimeZone } from "../util/local-time.js";

/** Days as their owner lives them. */
export interface Calendar {
  readonly timeZone: string;
  /** `2026-11-21`. */
  dayOf(at: number): string;
  /** So many days up to the one that `at` is in, the newest first. */
  daysBefore(at: number, count: number): readonly string[];
}

/**
 * In this machine's time zone, where none is named. Making a formatter is slow, and the first one of a process takes 8 MB: it is made
 * once, and not before somebody asks. The current day is remembered for a minute.
 */
export function createCalendar(named: string | undefined): Calendar {
  let zone = named;
  const zoneOf = (): string => {
    zone ??= ownTimeZone();
    return zone;
  };
  let format: Intl.DateTimeFormat | undefined;
  let minute = -1;
  let today = "";
  const dayOf = (at: number): string => {
    // No zone's day begins within a minute.
    const now = Math.floor(at / 60_000);
    if (now === minute) return today;
    minute = now;
    format ??= new Intl.DateTimeFormat("en-CA", {
      timeZone: zoneOf(),
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
    });
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
    today = `${parts.get("year")}-${parts.get("month")}-${parts.get("day")}`;
    return today;
  };
  return {
    get timeZone() {
      return zoneOf();
    },
    dayOf,
    daysBefore(at, count) {
      // Calendar days, whatever their length here: in UTC each has 24 hours.
      const noon = Date.parse(`${dayOf(at)}T12:00:00Z`);
      return Array.from({ length: count }, (_, back) => new Date(noon - back * 86_400_000).toISOString().slice(0, 10));
    },
  };
}

/** When the day after the one of `at` begins, Unix ms. Days have 23 to 25 hours, and begin with a minute. */
export function nextDayAt(calendar: Pick<Calendar, "dayOf">, at: number): number {
  const today = calendar.dayOf(at);
  let last = Math.floor(at / 60_000);
  let next = last + 26 * 60;
  while (next - last > 1) {
    const middle = Math.floor((last + next) / 2);
    if (calendar.dayOf(middle * 60_000) === today) last = middle;
    else next = middle;
  }
  return next * 60_000;
}

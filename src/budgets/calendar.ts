/** Days as their owner lives them. */
export interface Calendar {
  readonly timeZone: string;
  /** `2026-11-21`. */
  dayOf(at: number): string;
  /** So many days up to the one that `at` is in, the newest first. */
  daysBefore(at: number, count: number): readonly string[];
}

/** Making the formatter is slow, so it is made once; the current day is remembered for a minute. */
export function createCalendar(timeZone: string): Calendar {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  let minute = -1;
  let today = "";
  const dayOf = (at: number): string => {
    // No zone's day begins within a minute.
    const now = Math.floor(at / 60_000);
    if (now === minute) return today;
    minute = now;
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
    today = `${parts.get("year")}-${parts.get("month")}-${parts.get("day")}`;
    return today;
  };
  return {
    timeZone,
    dayOf,
    daysBefore(at, count) {
      // Calendar days, whatever their length here: in UTC each has 24 hours.
      const noon = Date.parse(`${dayOf(at)}T12:00:00Z`);
      return Array.from({ length: count }, (_, back) => new Date(noon - back * 86_400_000).toISOString().slice(0, 10));
    },
  };
}

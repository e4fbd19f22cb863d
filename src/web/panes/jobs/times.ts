/** When a job runs, as people choose it. Days are 0 (Sunday) to 6; none means every day. */
export type Times =
  | { readonly kind: "days"; readonly time: string; readonly days: readonly number[] }
  | { readonly kind: "month"; readonly time: string; readonly day: number }
  | { readonly kind: "every"; readonly amount: number; readonly unit: Unit }
  /** ISO 8601. */
  | { readonly kind: "once"; readonly at: string }
  | { readonly kind: "cron"; readonly expression: string };

export type Unit = "m" | "h" | "d";

const unitMs: Readonly<Record<Unit, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

interface JobTimes {
  readonly scheduleType: string;
  readonly schedule: string;
}

/** The simplest that says what the job has; five fields that say more stay as they are. */
export function timesOf({ scheduleType, schedule }: JobTimes): Times {
  if (scheduleType === "once") return { kind: "once", at: schedule };
  if (scheduleType === "every") return every(Number(schedule));
  return fromFields(schedule) ?? { kind: "cron", expression: schedule };
}

/** As the gateway takes them. */
export function wishOf(times: Times): { readonly at: string } | { readonly every: string } | { readonly cron: string } {
  switch (times.kind) {
    case "once":
      return { at: new Date(times.at).toISOString() };
    case "every":
      return { every: `${times.amount}${times.unit}` };
    case "cron":
      return { cron: times.expression };
    default:
      return { cron: fieldsOf(times) };
  }
}

/** What `times` are as five fields. */
export function fieldsOf(times: Extract<Times, { kind: "days" | "month" }>): string {
  const [hour = 0, minute = 0] = times.time.split(":").map(Number);
  if (times.kind === "month") return `${minute} ${hour} ${times.day} * *`;
  const days = [...new Set(times.days)].sort((a, b) => a - b);
  return `${minute} ${hour} * * ${days.length === 0 || days.length === 7 ? "*" : days.join(",")}`;
}

function every(ms: number): Times {
  const unit = (["d", "h"] as const).find((one) => ms % unitMs[one] === 0) ?? "m";
  return { kind: "every", amount: Math.max(1, Math.round(ms / unitMs[unit])), unit };
}

function fromFields(expression: string): Times | undefined {
  const [minute = "", hour = "", day = "", month = "", weekday = "", ...more] = expression.trim().split(/\s+/);
  if (!isWithin(minute, 59) || !isWithin(hour, 23) || month !== "*" || more.length > 0) return undefined;
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (weekday === "*" && isWithin(day, 31) && Number(day) > 0) return { kind: "month", time, day: Number(day) };
  const days = day === "*" ? daysIn(weekday) : undefined;
  return days === undefined ? undefined : { kind: "days", time, days };
}

function isWithin(text: string, most: number): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) <= most;
}

/** `*`, `1-5`, `0,6`: numbers alone, 7 is Sunday too. */
function daysIn(weekday: string): readonly number[] | undefined {
  if (weekday === "*") return [];
  const days = weekday.split(",").flatMap((part): readonly (number | undefined)[] => {
    const [, from, to] = /^([0-7])(?:-([0-7]))?$/.exec(part) ?? [];
    if (from === undefined) return [undefined];
    const last = Number(to ?? from);
    return Array.from({ length: Math.max(0, last - Number(from) + 1) }, (_, index) => (Number(from) + index) % 7);
  });
  const known = days.filter((one) => one !== undefined);
  return known.length === 0 || known.length < days.length ? undefined : [...new Set(known)].sort((a, b) => a - b);
}

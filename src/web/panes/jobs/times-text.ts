import { momentOf } from "../../parts/format.js";
import { localeOfPage } from "../../words/language.js";
import type { Times, Unit } from "./times.js";
import { jobsWords } from "./words.js";

const { t } = jobsWords;

/** `every day at 09:00`, `on Monday, Friday at 18:30`, `every 90 minutes`. Five fields that say more stay as they are. */
export function textOf(times: Times): string {
  switch (times.kind) {
    case "days":
      if (times.days.length === 0 || times.days.length === 7) return t("everyDayAt", { time: times.time });
      if (times.days.join() === "1,2,3,4,5") return t("weekdaysAt", { time: times.time });
      return t("onDaysAt", { days: times.days.map((day) => dayName(day, "long")).join(", "), time: times.time });
    case "month":
      return t("onDayOfMonthAt", { day: times.day, time: times.time });
    case "every":
      return t("everySpan", { span: spanOf(times.amount, times.unit) });
    case "once":
      return t("onceAt", { time: momentOf(new Date(times.at)) });
    case "cron":
      return t("byFields", { fields: times.expression });
  }
}

function spanOf(amount: number, unit: Unit): string {
  const names = { m: "minute", h: "hour", d: "day" } as const;
  return new Intl.NumberFormat(localeOfPage(), { style: "unit", unit: names[unit], unitDisplay: "long" }).format(
    amount,
  );
}

/** 0 is Sunday. */
export function dayName(day: number, style: "long" | "short"): string {
  // 1 January 2023 was one.
  return new Date(Date.UTC(2023, 0, 1 + day)).toLocaleDateString(localeOfPage(), { weekday: style, timeZone: "UTC" });
}

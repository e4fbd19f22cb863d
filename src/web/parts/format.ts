import { localeOfPage } from "../words/language.js";
import { formatWords } from "./words.js";

/** A long chat has thousands of times, and to make one of these takes longer than all that is done with it. */
const made = new Map<string, Intl.DateTimeFormat>();

/** A date in words, in the page's language and the zone in which the reader is now. */
export function dateText(date: Date, options: Intl.DateTimeFormatOptions): string {
  const locale = localeOfPage();
  const key = JSON.stringify([locale, date.getTimezoneOffset(), options]);
  const format = made.get(key) ?? new Intl.DateTimeFormat(locale, options);
  made.set(key, format);
  return format.format(date);
}

/** `14:05` today, `12 Nov, 14:05` this year, else with the year. */
export function momentOf(date: Date, now: Date = new Date()): string {
  const time = { hour: "2-digit", minute: "2-digit" } as const;
  if (date.toDateString() === now.toDateString()) return dateText(date, time);
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return dateText(date, { day: "numeric", month: "short", year, ...time });
}

/** `14:05`. */
export function timeOfDay(date: Date): string {
  return dateText(date, { hour: "2-digit", minute: "2-digit" });
}

/** `Today`, `Yesterday`, `Monday, 2 November`; of another year with the year. */
export function dayOf(date: Date, now: Date): string {
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  const days = [now, yesterday].findIndex((day) => day.toDateString() === date.toDateString());
  const locale = localeOfPage();
  if (days !== -1) {
    const word = new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(-days, "day");
    return word.charAt(0).toLocaleUpperCase(locale) + word.slice(1);
  }
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return dateText(date, { weekday: "long", day: "numeric", month: "long", year });
}

/** Day and time in full. */
export function fullTimeOf(date: Date): string {
  return dateText(date, { dateStyle: "full", timeStyle: "medium" });
}

export function numberOf(value: number, maximumFractionDigits = 0): string {
  return value.toLocaleString(localeOfPage(), { maximumFractionDigits });
}

/** US dollars: two digits, more where two would say nothing. */
export function costOf(dollars: number): string {
  const maximumFractionDigits = dollars !== 0 && dollars < 0.01 ? 4 : 2;
  return dollars.toLocaleString(localeOfPage(), { style: "currency", currency: "USD", maximumFractionDigits });
}

/** `850 ms`, `3.2 s`, `2 min 5 s`, `3 h 12 min`. */
export function durationOf(ms: number): string {
  const { t } = formatWords;
  if (ms < 1000) return t("milliseconds", { n: Math.round(ms) });
  if (ms < 60_000) return t("seconds", { n: numberOf(ms / 1000, 1) });
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return t("minutes", { minutes, seconds: Math.floor((ms % 60_000) / 1000) });
  return t("hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

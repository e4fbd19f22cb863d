import type { AnswerHeaders } from "./post.js";

/**
 * How long the far side asks to wait: `retry-after-ms`, `retry-after` in seconds or as a date, else what its error
 * body says (Google's RetryInfo, "try again in 1.2s").
 */
export function toRetryAfterMs(headers: AnswerHeaders | undefined, body: unknown, now: number): number | undefined {
  const ms = toNumber(headers?.get("retry-after-ms"));
  if (ms !== undefined) return Math.ceil(ms);
  const after = headers?.get("retry-after");
  const seconds = toNumber(after);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  // Date.parse takes "-5" for a year.
  const date = /:/.test(after ?? "") ? Date.parse(after ?? "") : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  return inBody(body);
}

function toNumber(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

function inBody(body: unknown): number | undefined {
  if (body === undefined || body === null) return undefined;
  const match = /(?:retryDelay"\s*:\s*"|(?:try again|retry) in )(\d+(?:\.\d+)?)\s?(ms|s)\b/i.exec(JSON.stringify(body));
  const value = toNumber(match?.[1]);
  return value === undefined ? undefined : Math.ceil(match?.[2] === "ms" ? value : value * 1000);
}

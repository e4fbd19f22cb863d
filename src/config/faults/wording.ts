import type { z } from "zod";
import { plain } from "../../util/text/suggest.js";

const kinds: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** What the schema wants at the place of an issue. */
export function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return kinds[issue.expected] ?? issue.expected;
    case "invalid_value":
      return `one of ${issue.values.join(", ")}`;
    case "too_small":
      return issue.origin === "string" ? issue.message : `at least ${issue.minimum}`;
    case "too_big":
      return `at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

/** What is there, by kind: the value of a text may be a secret in the wrong place. */
export function describe(value: unknown, key: string): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "number" && !isSecretKey(key)) return String(value);
  if (typeof value === "string") return value === "" ? "an empty text" : "a text";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** True for a key whose value must never be shown. */
export function isSecretKey(key: string): boolean {
  return /(key|token|password|secret)$/i.test(key);
}

/** A channel's name as its makers spell it. */
export function titled(name: string): string {
  const spelled: Readonly<Record<string, string>> = {
    whatsapp: "WhatsApp",
    websocket: "WebSocket",
    dingtalk: "DingTalk",
  };
  return spelled[plain(name)] ?? name.charAt(0).toUpperCase() + name.slice(1);
}

import { createHash } from "node:crypto";

/**
 * What OTLP 1.x calls a span, in its JSON form: 64-bit numbers are texts, ids are hex and enums are numbers.
 *
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status?: { readonly code: number; readonly message?: string };
}

export interface Attribute {
  readonly key: string;
  readonly value: AttributeValue;
}

type AttributeValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean }
  | { readonly arrayValue: { readonly values: readonly AttributeValue[] } };

/** What is undefined is left out. */
export type Facts = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export const spanKinds = { internal: 1, client: 3, producer: 4 } as const;
export const failedStatus = 2;

/** Of 32 hex digits, always the same for the same text. */
export function traceIdOf(text: string): string {
  return hexOf(`trace ${text}`, 32);
}

/** Of 16 hex digits. */
export function spanIdOf(text: string): string {
  return hexOf(`span ${text}`, 16);
}

function hexOf(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}

/** @param ms Unix ms */
export function toNanos(ms: number): string {
  return `${Math.trunc(ms)}000000`;
}

/** @param clean called with each text */
export function toAttributes(facts: Facts, clean: (text: string) => string = (text) => text): readonly Attribute[] {
  return Object.entries(facts).flatMap(([key, fact]) =>
    fact === undefined ? [] : [{ key, value: toValue(fact, clean) }],
  );
}

function toValue(fact: NonNullable<Facts[string]>, clean: (text: string) => string): AttributeValue {
  if (typeof fact === "string") return { stringValue: clean(fact) };
  if (typeof fact === "boolean") return { boolValue: fact };
  if (typeof fact !== "number") return { arrayValue: { values: fact.map((one) => toValue(one, clean)) } };
  return Number.isInteger(fact) ? { intValue: String(fact) } : { doubleValue: fact };
}

import { cutText } from "../../../util/text/cut-text.js";
import type { StoredEvent } from "../../event.js";
import type { ErrorStep, Excerpt, NoteStep } from "./step.js";

export type Stored<T extends StoredEvent["type"]> = Extract<StoredEvent, { readonly type: T }>;

/** In characters; the event has the rest. */
export const longestExcerpt = 1500;

export function excerptOf(text: string): Excerpt {
  return { text: cutText(text, longestExcerpt), isCut: text.length > longestExcerpt };
}

/** The begin of a step. */
export function begunAt({ event_id: id, seq }: StoredEvent, atMs: number) {
  return { id, seq, atMs };
}

export function noteAt(event: StoredEvent, atMs: number, code: NoteStep["code"], detail: string): NoteStep {
  return { kind: "note", ...begunAt(event, atMs), endMs: atMs, code, detail };
}

export function errorAt(event: StoredEvent, atMs: number, code: string, detail: string): ErrorStep {
  return { kind: "error", ...begunAt(event, atMs), endMs: atMs, code, detail };
}

export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

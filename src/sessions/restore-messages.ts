import type { Engine } from "../engine/engine.js";
import type { Payload } from "../events/catalogue.js";
import { draft, type StoredEvent } from "../events/event.js";
import type { Logger } from "../log.js";
import type { DocumentReading } from "./document/document-file.js";
import type { DocumentMessage } from "./session.js";

export interface RestorePorts {
  readonly engine: Pick<Engine, "append" | "events">;
  readonly log: Logger;
}

export interface LoadedSession {
  readonly key: string;
  readonly lastSequence: number;
  /** The messages as the log tells them. */
  readonly messages: () => readonly DocumentMessage[];
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

type Restored = NonNullable<Payload<"session_history_changed">["messages"]>[number];

const pageSize = 1000;

/** What a session's log says that it has lost, and that nobody has looked for in its document yet. */
export class LostEvents {
  #gaps: Gap[] = [];

  see(event: StoredEvent): void {
    if (event.type === "session_log_mended")
      this.#gaps.push(...event.payload.lost.map(({ from_seq: from, to_seq: to }) => ({ from, to })));
    if (event.type !== "session_history_changed" || event.payload.kind !== "restored") return;
    const { to_seq: seen = 0 } = event.payload;
    this.#gaps = this.#gaps.filter(({ to }) => to > seen);
  }

  get gaps(): readonly Gap[] {
    return this.#gaps;
  }
}

/**
 * Brings messages back into a conversation whose log has lost their events, from the document that was written before. Each
 * takes a number of the lost events, so that it is where it was.
 */
export async function restoreMessages(
  ports: RestorePorts,
  session: LoadedSession,
  lost: LostEvents,
  reading: DocumentReading,
): Promise<void> {
  const { engine, log } = ports;
  const { key, lastSequence } = session;
  if (reading.status !== "ok" || reading.document.key !== key) return;
  const { messages: shown, metadata } = reading.document;
  const shownSeq = metadata?.lastSequence ?? 0;
  const isCut = shownSeq > lastSequence && lastSequence > 0;
  const gaps = [...lost.gaps, ...(isCut ? [{ from: lastSequence + 1, to: shownSeq }] : [])];
  if (gaps.length === 0) return;
  const known = new Map<string, number>();
  for (const message of session.messages()) known.set(nameOf(message), (known.get(nameOf(message)) ?? 0) + 1);
  const missing = (shown ?? []).filter((message) => {
    const left = known.get(nameOf(message)) ?? 0;
    if (left > 0) known.set(nameOf(message), left - 1);
    return left === 0;
  });
  const messages = await fitIntoGaps(ports, key, gaps, missing);
  if (messages.length === 0) return;
  const restored = draft(
    "session_history_changed",
    { kind: "restored", to_seq: Math.max(...gaps.map(({ to }) => to)), messages: [...messages] },
    { source: "gateway" },
  );
  await engine.append(key, [restored], { durable: true, ...(isCut ? { afterSeq: shownSeq } : {}) });
  log.warn(`Brought back ${messages.length} messages of ${key} from its document`, { session: key });
}

function nameOf(message: {
  readonly role: string;
  readonly content?: string | null | undefined;
  readonly timestamp?: string | null | undefined;
}): string {
  return `${message.role}\n${message.timestamp ?? ""}\n${message.content ?? ""}`;
}

/** Each message in the gap that it can have been in, by the times of the events around it. */
async function fitIntoGaps(
  { engine }: RestorePorts,
  key: string,
  gaps: readonly Gap[],
  missing: readonly {
    readonly role: string;
    readonly content?: string | null | undefined;
    readonly timestamp?: string | null | undefined;
  }[],
): Promise<readonly Restored[]> {
  const windows: { readonly gap: Gap; readonly after: string; readonly before: string; next: number }[] = [];
  for (const gap of gaps)
    windows.push({
      gap,
      next: gap.from,
      after: await readTimeBefore(engine, key, gap),
      before: await readTimeAfter(engine, key, gap),
    });
  return missing.flatMap(({ role, content, timestamp }) => {
    if (!content || !timestamp) return [];
    const window = windows.find(({ after, before }) => timestamp >= after && timestamp <= before);
    if (window === undefined) return [];
    const seq = Math.min(window.next, window.gap.to);
    window.next += 1;
    return [{ role, content, timestamp, seq }];
  });
}

async function readTimeAfter(engine: RestorePorts["engine"], key: string, { to }: Gap): Promise<string> {
  const { events } = await engine.events(key, { afterSeq: to, limit: 1 });
  const [next] = events;
  // What tells about the damage came later than everything that was lost.
  return next?.timestamp ?? "~";
}

async function readTimeBefore(engine: RestorePorts["engine"], key: string, { from }: Gap): Promise<string> {
  const { events } = await engine.events(key, { afterSeq: Math.max(0, from - 1 - pageSize), limit: pageSize });
  return events.findLast(({ seq }) => seq < from)?.timestamp ?? "";
}

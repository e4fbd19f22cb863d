import type { ContextUse } from "../../agent/model/context-use.js";
import type { SentRequests } from "../../agent/model/sent-requests.js";
import type { Engine } from "../../engine/engine.js";
import type { StoredEvent } from "../../events/event.js";
import { toTimeline } from "../../events/folds/timeline/timeline.js";
import { TurnLines } from "../../events/folds/timeline/turn-lines.js";
import type { SessionStore } from "../../sessions/session-store.js";
import { assertSession } from "../sessions/assert-session.js";
import { noSuchTurn, notNow, readLog } from "./replay-log.js";
import type { Replayed, TurnPage, TurnsApi } from "./turns-api.js";

export interface TurnPorts {
  readonly engine: Pick<Engine, "events" | "lastSequence">;
  readonly sessions: Pick<SessionStore, "exists">;
  /** Runs a turn of this log again. @throws {RequestError} 409 with the reason where that cannot be done */
  readonly replay: (
    key: string,
    log: readonly StoredEvent[],
    turnId: string,
    signal: AbortSignal | undefined,
  ) => Promise<Replayed>;
  /** How much of a log is read to play a turn of it. Default 64 MB. */
  readonly maxReplayBytes?: number;
  readonly contextUse: (key: string) => Promise<ContextUse>;
  readonly sent: Pick<SentRequests, "read">;
  /** Hides secrets in a text. */
  readonly mask: (text: string) => string;
}

const chunkSize = 1000;
/** How far back of a turn's begin the messages that it answers are looked for, in chunks. */
const furtherBack = 5;

/** What happened in a conversation, turn by turn: read from its log when somebody asks. */
export function createTurnOperations(ports: TurnPorts): TurnsApi {
  const { engine, sessions } = ports;
  let isReplaying = false;
  return {
    async listTurns(key, page) {
      await assertSession(sessions, key);
      return await readTurns(engine, key, page);
    },
    async timeline(key, turnId) {
      await assertSession(sessions, key);
      const found = toTimeline(await readTurn(engine, key, turnId), turnId);
      if (found === undefined) throw noSuchTurn(key, turnId);
      return found;
    },
    async replayTurn(key, turnId, signal) {
      await assertSession(sessions, key);
      if (isReplaying) throw notNow("Another turn is being played again. Try again when it is over.");
      isReplaying = true;
      try {
        const log = await readLog(engine, { key, turnId, maxBytes: ports.maxReplayBytes, signal });
        return await ports.replay(key, log, turnId, signal);
      } finally {
        isReplaying = false;
      }
    },
    async sentRequests(key, turnId, iteration) {
      await assertSession(sessions, key);
      const kept = ports.sent.read(key, turnId, iteration);
      return kept.map((request) => {
        const body = ports.mask(request.body);
        return { ...request, body, isExact: body === request.body };
      });
    },
    async contextUse(key) {
      await assertSession(sessions, key);
      return await ports.contextUse(key);
    },
  };
}

async function readTurns(
  engine: TurnPorts["engine"],
  key: string,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<TurnPage> {
  let events: readonly StoredEvent[] = [];
  for await (const chunk of backwards(engine, key, before)) {
    events = [...chunk, ...events];
    // One more than is wanted says that there is an older one, and has the way in of the oldest that is shown.
    if (linesOf(events).length > limit) break;
  }
  const lines = linesOf(events);
  const turns = lines.slice(-limit).reverse();
  return { turns, before: lines.length > limit ? turns.at(-1)?.firstSeq : undefined };
}

function linesOf(events: readonly StoredEvent[]) {
  const lines = new TurnLines();
  for (const event of events) lines.apply(event);
  return lines.lines;
}

/** What a timeline may need, in order: the turn's own events, what came in, and what went out later. */
async function readTurn(engine: TurnPorts["engine"], key: string, turnId: string): Promise<readonly StoredEvent[]> {
  let events: readonly StoredEvent[] = [];
  const missing = new Set<string>();
  let left = furtherBack;
  let isBegun = false;
  for await (const chunk of backwards(engine, key)) {
    events = [...chunk.filter((event) => mayMatter(event, turnId)), ...events];
    for (const event of chunk) {
      if (event.turn_id === turnId && event.type === "turn_execution_start") {
        isBegun ||= event.payload.attempt === 1;
        for (const id of event.payload.message_ids) missing.add(id);
      }
    }
    for (const event of events) if (event.type === "user_message_queued") missing.delete(event.payload.message_id);
    if (!isBegun) continue;
    left -= 1;
    if (missing.size === 0 || left === 0) break;
  }
  return events;
}

/** Those beside the turn's own may be told without it. */
function mayMatter(event: StoredEvent, turnId: string): boolean {
  if (event.turn_id !== undefined) return event.turn_id === turnId;
  return ["user_message_queued", "subagent_state_changed", "outbound_delivery_changed"].includes(event.type);
}

/** The log from its end, or from before an event, in pieces; each piece is in order. */
async function* backwards(
  engine: TurnPorts["engine"],
  key: string,
  before?: number,
): AsyncGenerator<readonly StoredEvent[]> {
  const last = await engine.lastSequence(key);
  for (let end = Math.min(last, (before ?? last + 1) - 1); end > 0; end -= chunkSize) {
    const { events } = await engine.events(key, { afterSeq: Math.max(0, end - chunkSize), limit: chunkSize });
    const chunk = events.filter(({ seq }) => seq <= end);
    // Before it there is only what was deleted.
    if (chunk.length === 0) return;
    yield chunk;
  }
}

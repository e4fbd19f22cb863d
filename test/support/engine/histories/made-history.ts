import * as fs from "node:fs";
import { join } from "node:path";
import { encodeLine } from "../../../../src/engine/embedded/journal/line.js";
import { noUsage } from "../../../../src/events/content.js";
import { draft, type EventDraft } from "../../../../src/events/event.js";
import { sessionFileName } from "../../../../src/sessions/file-names.js";
import { lineText } from "../../../../src/sessions/list/index-file.js";

export interface MadeHistory {
  readonly sessions: number;
  readonly turnsPerSession: number;
  /** Of each answer. */
  readonly answerBytes: number;
  /** Unix ms of the first event. */
  readonly from?: number;
  /** The last event of each says that all before it was summarised. */
  readonly isSummarised?: boolean;
}

/** The session of this number. */
export function madeKey(index: number): string {
  return `telegram:${100_000 + index}`;
}

/**
 * Writes the files of a gateway that has had many conversations and stopped in good order: session logs, documents
 * and the index. Gives the number of bytes in the logs.
 */
export function makeHistory(sessionsDir: string, made: MadeHistory): number {
  fs.mkdirSync(sessionsDir, { recursive: true });
  const index = fs.openSync(join(sessionsDir, ".index.jsonl"), "a");
  let bytes = 0;
  for (let number = 0; number < made.sessions; number += 1) {
    const key = madeKey(number);
    const name = sessionFileName(key);
    bytes += writeLog(join(sessionsDir, `${name}.events.jsonl`), key, made);
    const lastSequence = made.turnsPerSession * eventsPerTurn + (made.isSummarised ? 1 : 0);
    // The newest ones are anywhere in the list, as where each chat has its own times.
    const timestamp = new Date((made.from ?? firstTime) + ((number * 7919) % made.sessions) * 1000).toISOString();
    const answer = answerOf(made.answerBytes);
    const document = {
      key,
      messages: [
        { role: "user", content: "question", timestamp },
        { role: "assistant", content: answer, timestamp },
      ],
      metadata: { state: "idle", summary: "question", lastSequence },
    };
    fs.writeFileSync(join(sessionsDir, `${name}.json`), JSON.stringify(document));
    const shown = { messageCount: 2, summary: "question", lastMessage: answer.slice(0, 200), lastMessageAt: timestamp };
    fs.writeSync(index, lineText({ key, file: `${name}.json`, lastSequence, ...shown }));
  }
  fs.closeSync(index);
  return bytes;
}

const eventsPerTurn = 5;
const firstTime = 1_750_000_000_000;
const piece = 8 * 1024 * 1024;

function writeLog(
  path: string,
  key: string,
  { turnsPerSession, answerBytes, from = firstTime, isSummarised = false }: MadeHistory,
): number {
  const fd = fs.openSync(path, "w");
  let bytes = 0;
  let lines: Buffer[] = [];
  let held = 0;
  const write = (): void => {
    bytes += held;
    fs.writeSync(fd, Buffer.concat(lines));
    lines = [];
    held = 0;
  };
  for (let turn = 0; turn < turnsPerSession; turn += 1) {
    for (const [index, event] of turnEvents(`${key}-${turn}`, answerBytes).entries()) {
      const seq = turn * eventsPerTurn + index + 1;
      const line = encodeLine(JSON.stringify(stored(event, key, seq, from + turn * 60_000 + index)));
      lines.push(line);
      held += line.length;
    }
    if (held > piece) write();
  }
  if (isSummarised) {
    const seq = turnsPerSession * eventsPerTurn + 1;
    lines.push(
      encodeLine(JSON.stringify(stored(summarised(turnsPerSession), key, seq, from + turnsPerSession * 60_000))),
    );
  }
  write();
  fs.closeSync(fd);
  return bytes;
}

function stored({ event_id, type, ...rest }: EventDraft, key: string, seq: number, time: number) {
  const timestamp = new Date(time).toISOString();
  return {
    schema_version: "1.0",
    event_id,
    type,
    session_key: key,
    seq,
    timestamp,
    ...rest,
    metadata: { instance_id: "gw_made" },
  };
}

function summarised(turns: number): EventDraft {
  const sizes = { original_message_count: 2 * turns, final_message_count: 1, estimated_tokens: 9 };
  return draft(
    "context_compressed",
    { strategy: "summary", summary: "All of it.", ...sizes, token_budget: 10, utilization_pct: 90 },
    { source: "agent" },
  );
}

/** One message and its answer, each event caused by the one before it. */
function turnEvents(id: string, answerBytes: number): readonly EventDraft[] {
  const message = `msg_${id}`;
  const turn = { source: "agent", turn_id: `turn_${id}`, correlation_id: message };
  const content = [{ type: "text" as const, text: "question" }];
  const events: EventDraft[] = [
    draft(
      "user_message_queued",
      { message_id: message, channel: "telegram", chat_id: "1", sender_id: "1", content, mode: "next", position: 0 },
      { source: "channel:telegram", correlation_id: message },
    ),
    draft("turn_execution_start", { message_ids: [message], queued_ms: 1, attempt: 1 }, turn),
    draft("user_message", { message_id: message, content, iteration: 1 }, turn),
    draft(
      "assistant_message",
      {
        message_id: `${message}-answer`,
        content: [{ type: "text", text: answerOf(answerBytes) }],
        model: "made",
        iteration: 1,
        stop_reason: "end_turn",
        usage: noUsage,
        final: true,
        partial: false,
      },
      turn,
    ),
    draft(
      "turn_execution_complete",
      {
        message_ids: [message],
        message_id: `${message}-answer`,
        stop_reason: "end_turn",
        iterations: 1,
        usage: noUsage,
        duration_ms: 1,
        tool_calls: [],
        errors: [],
      },
      turn,
    ),
  ];
  return events.map((event, index) => {
    const cause = events[index - 1];
    return cause === undefined ? event : { ...event, causation_id: cause.event_id };
  });
}

function answerOf(bytes: number): string {
  return "answer ".repeat(Math.ceil(bytes / 7)).slice(0, bytes);
}

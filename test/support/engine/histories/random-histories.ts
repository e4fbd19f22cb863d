import fc from "fast-check";
import type { ContentPart } from "../../../../src/events/content.js";
import type { StoredEvent } from "../../../../src/events/event.js";
import type { AnswerChunk } from "../../../../src/events/machines/input.js";
import { History } from "../../../../src/sessions/history/history.js";
import { someUsage } from "./machines.js";
import { SessionLog } from "./session-log.js";

/** One thing that can happen to a session, and what it is given. Whatever is made below can come at any moment. */
interface Happening<V> {
  /** How often it comes. */
  readonly weight: number;
  readonly given: fc.Arbitrary<V>;
  run(log: SessionLog, given: V): void;
}

function happening<V>(
  weight: number,
  given: fc.Arbitrary<V>,
  run: (log: SessionLog, given: V) => void,
): Happening<unknown> {
  // Each happening is only ever given what its own arbitrary made.
  return { weight, given, run: run as (log: SessionLog, given: unknown) => void };
}

const text = fc.constantFrom(
  "hello",
  "世界 😀",
  "",
  " ",
  "\n\n",
  "\u200b",
  "\u0085",
  "\ufeff",
  "\ud83d",
  "cut \ud83d",
  "\ude00 cut",
);
const callId = fc.constantFrom("a", "b", "call_0", "", "functions.read_file:0", "x".repeat(99), "\ud83d", "toolu_1");
const callName = fc.constantFrom("read_file", "functions.read_file", "", "名字", "y".repeat(99), "mcp__files__read");
const output = fc.constantFrom("done", "", "  \n", "\u200b", "half \ud83d", "x".repeat(500), "y".repeat(20_000));

/** A piece of an answer. `none`, `array` and so on: what the model's bytes are in place of an object. */
const piece = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("text" as const), text }) },
  fc.record({
    kind: fc.constant("thinking" as const),
    text: fc.constantFrom("hm", "", "half \ud83d"),
    proof: fc.constantFrom("signed", "redacted", "blank", "none"),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      id: callId,
      name: callName,
      json: fc.constantFrom("object", "object", "object", "half", "none", "broken", "array", "text"),
    }),
  },
);
type Piece = typeof piece extends fc.Arbitrary<infer P> ? P : never;
const pieces = fc.array(piece, { maxLength: 5 });

/** Every call asks with a number of its own, so that its result can be told from all others. */
function jsonOf(log: SessionLog, json: Extract<Piece, { kind: "call" }>["json"]): string {
  switch (json) {
    case "none":
      return "";
    case "broken":
      return '{"n": 1';
    case "array":
      return "[1]";
    case "text":
      return '"text"';
    case "half":
      // What a model's broken escape becomes.
      return `{"n": ${log.next()}, "half \\ud83d": ["\\ude00"]}`;
    case "object":
      return `{"n": ${log.next()}}`;
  }
}

function toChunks(log: SessionLog, all: readonly Piece[]): AnswerChunk[] {
  const answer = log.next();
  return all.flatMap((one) => chunksOf(log, answer, one));
}

function chunksOf(log: SessionLog, answer: number, one: Piece): AnswerChunk[] {
  switch (one.kind) {
    case "text":
      return [{ kind: "text", text: one.text }];
    case "call":
      return [
        { kind: "tool_call", id: one.id, name: one.name },
        { kind: "tool_input", id: one.id, json: jsonOf(log, one.json) },
      ];
    case "thinking": {
      const thought: AnswerChunk = { kind: "thinking", text: one.text };
      if (one.proof === "none") return [thought];
      const proof = `${answer}.${log.next()}`;
      const signature = { signed: `sig ${proof}`, redacted: `redacted:sig ${proof}`, blank: "" }[one.proof];
      return [thought, { kind: "thinking_signature", signature }];
    }
  }
}

const end = (reason: "end_turn" | "tool_use" | "max_tokens" | "refusal"): AnswerChunk => ({
  kind: "end",
  stopReason: reason,
  usage: someUsage,
});

/** Marks a person's message, so that it can be found again. */
function wordOf(n: number): string {
  return `word${n};`;
}

type UserPiece = "word" | "blank" | "half" | "image" | "file" | "result";

function toUserPart(log: SessionLog, one: UserPiece): ContentPart {
  switch (one) {
    case "word":
      return { type: "text", text: wordOf(log.next()) };
    case "blank":
      return { type: "text", text: " \u200b" };
    case "half":
      return { type: "text", text: `\ude00${wordOf(log.next())}\ud83d` };
    case "image":
      return { type: "image", mime_type: "image/png", path: "/nowhere/at/all.png", filename: "\ud83d.png" };
    case "file":
      return { type: "file", mime_type: "text/plain", path: "/nowhere", filename: "a.txt" };
    case "result":
      return { type: "tool_result", tool_call_id: "a", content: "where from?", is_error: false };
  }
}

/** The result that {@link jsonOf} lets its call be told by. */
function ownOutput(input: Readonly<Record<string, unknown>>, given: string): string {
  return typeof input.n === "number" ? `result of ${input.n} ${given}` : given;
}

/** Old turns give way to a summary, never the one that runs: as the agent counts them. */
function compress(log: SessionLog, turnCount: number): void {
  const history = new History();
  for (const event of log.events) history.apply(event);
  const turns = history.turns();
  const current = turns.findIndex(({ turnId }) => turnId !== undefined && turnId === log.turnId);
  const old = turns.slice(0, current === -1 ? undefined : current).slice(0, turnCount);
  const gone = old.reduce((sum, { size }) => sum + size, 0);
  if (gone === 0 || (gone === 1 && history.beginsWithSummary)) return;
  const numbers = JSON.stringify(history.toMessages(undefined, undefined, gone)).matchAll(/word(\d+);/g);
  log.add("context_compressed", {
    ...compressed,
    strategy: "summary",
    original_message_count: history.size,
    final_message_count: history.size - gone + 1,
    summary: `half \ud83d ${goneMark}${[...numbers].map(([, number]) => number).join()}.`,
  });
}

const compressed = { estimated_tokens: 1, token_budget: 1, utilization_pct: 100 };
const goneMark = "without the words ";

/** The messages, by their words, that a summary of {@link compress} stands for. */
export function wordsGone({ payload }: Extract<StoredEvent, { type: "context_compressed" }>): readonly string[] {
  const numbers = payload.summary.split(goneMark)[1]?.match(/\d+/g) ?? [];
  return numbers.map((number) => wordOf(Number(number)));
}

/** Whatever else comes to be told to a model gets its line here. A message in mid-turn steers it. */
const happenings: Readonly<Record<string, Happening<unknown>>> = {
  /** A message; in mid-turn it joins the turn. */
  user: happening(
    8,
    fc.array(fc.constantFrom("word", "word", "word", "blank", "half", "image", "file", "result"), { maxLength: 3 }),
    (log, all) => log.user(all.map((one) => toUserPart(log, one))),
  ),
  answer: happening(
    8,
    fc.tuple(
      pieces,
      fc.constantFrom("end_turn" as const, "tool_use" as const, "max_tokens" as const, "refusal" as const),
    ),
    (log, [all, reason]) => log.answer([...toChunks(log, all), end(reason)]),
  ),
  /** The model's answer breaks off: stopped by a person, failed, or asked for again. */
  cutAnswer: happening(
    3,
    fc.tuple(pieces, fc.constantFrom("interrupted" as const, "failed" as const, "retried" as const)),
    (log, [all, cut]) => log.answer(toChunks(log, all), cut),
  ),
  /** Calls of the last answer are started side by side and end in any order; some may not end. */
  tools: happening(
    8,
    fc.tuple(fc.array(fc.nat(5), { maxLength: 5 }), fc.boolean(), output),
    (log, [order, allStart, given]) => {
      if (allStart) for (const open of log.open) log.startTool(open);
      for (const place of order) {
        const open = log.open[place % Math.max(1, log.open.length)];
        if (open !== undefined) log.finishTool(open, ownOutput(open.call.input, given), given === "");
      }
    },
  ),
  endTurn: happening(5, fc.constantFrom("complete" as const, "failed" as const, "cancelled" as const), (log, how) =>
    log.end(how),
  ),
  crash: happening(3, fc.constant(undefined), (log) => log.crash()),
  /** A result that nobody waits for, is told twice, or comes long after its turn. */
  strayResult: happening(2, fc.tuple(callId, output), (log, [id, given]) => log.result(id, given)),
  undo: happening(1, fc.nat(60), (log, back) => {
    log.end("cancelled");
    const to_seq = Math.max(0, log.events.length - back);
    log.add("session_history_changed", { kind: "undo", to_seq }, "client");
  }),
  compaction: happening(2, fc.integer({ min: 1, max: 5 }), compress),
  /** Only the current turn is left: its older results are shortened. */
  shortening: happening(1, fc.constant(undefined), (log) =>
    log.add("context_compressed", {
      ...compressed,
      strategy: "results",
      original_message_count: 1,
      final_message_count: 1,
      summary: "",
    }),
  ),
  /** Counts that fit no history: of another version, or of a log that was repaired. */
  strangeCompaction: happening(1, fc.integer({ min: -3, max: 40 }), (log, count) => {
    if (count > 0 && count < 30) return;
    log.add("context_compressed", {
      ...compressed,
      strategy: "digest",
      original_message_count: 0,
      final_message_count: Math.max(0, count) + 100,
      summary: "?",
    });
  }),
  otherChange: happening(
    1,
    fc.constantFrom("new" as const, "fork" as const, "edit" as const, "deletion" as const),
    (log, kind) => log.add("session_history_changed", { kind }, "client"),
  ),
  imported: happening(
    1,
    fc.tuple(
      fc.constantFrom("import" as const, "said" as const),
      fc.array(fc.tuple(fc.constantFrom("user", "assistant", "tool", "system", "error", "?"), text), { maxLength: 4 }),
    ),
    (log, [kind, messages]) =>
      log.add(
        "session_history_changed",
        { kind, messages: messages.map(([role, content]) => ({ role, content })) },
        "gateway",
      ),
  ),
  /** A sentence of the gateway's own. */
  notice: happening(1, text, (log, said) =>
    log.add("assistant_message", { ...anyAnswer(log, [{ type: "text", text: said }]) }, "gateway"),
  ),
  /** An answer as no machine of ours writes it: an older version's, or another program's. */
  strangeAnswer: happening(
    2,
    fc.array(
      fc.oneof(
        text.map((value): ContentPart => ({ type: "text", text: value })),
        fc.tuple(callId, callName).map(([id, name]): ContentPart => ({ type: "tool_use", id, name, input: {} })),
        fc.constantFrom<ContentPart>(
          { type: "thinking", text: "hm" },
          { type: "thinking", text: "", signature: "sig 0.1" },
          { type: "tool_result", tool_call_id: "a", content: "?", is_error: false },
          { type: "image", mime_type: "image/png", path: "/nowhere" },
        ),
      ),
      { maxLength: 5 },
    ),
    (log, content) => {
      log.open = [];
      log.add("assistant_message", anyAnswer(log, content));
    },
  ),
};

function anyAnswer(log: SessionLog, content: ContentPart[]) {
  const about = { model: "m", iteration: 1, stop_reason: "end_turn" as const, usage: someUsage };
  return { message_id: `msg_${log.next()}`, content, ...about, final: true, partial: false };
}

interface Step {
  readonly happens: string;
  readonly given: unknown;
}

/** What happened to a session, in order. */
export const anyHistory: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    ...Object.entries(happenings).map(([happens, { weight, given }]) => ({
      weight,
      arbitrary: given.map((value) => ({ happens, given: value })),
    })),
  ),
  { maxLength: 30, size: "max" },
);

/** The log that a history leaves. */
export function logOf(steps: readonly Step[]): SessionLog {
  const log = new SessionLog();
  for (const { happens, given } of steps) happenings[happens]?.run(log, given);
  return log;
}

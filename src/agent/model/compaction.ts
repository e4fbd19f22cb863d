import { messageOf } from "../../errors.js";
import type { Payload } from "../../events/catalogue.js";
import type { ModelUse } from "../../events/model-use.js";
import type { Logger } from "../../log.js";
import type { ChosenModel } from "../../providers/provider.js";
import type { CompactionStrategy, History } from "../../sessions/history/history.js";
import type { HistoryMessage } from "../../sessions/history/history-entries.js";
import { linked } from "../../util/async/linked.js";
import { cutText } from "../../util/text/cut-text.js";
import { estimateTokens } from "../../util/text/estimate-tokens.js";
import { addUse, askModel, canWrite } from "./ask.js";

export interface CompactionOptions {
  /** Compaction begins when a request would take more than this part of what the model can read. */
  readonly threshold: () => number;
  readonly log: Logger;
}

export interface Room {
  readonly history: History;
  readonly currentTurnId: string;
  readonly chosen: ChosenModel;
  /** Tokens of system prompt and tools, estimated. */
  readonly overhead: number;
  /** Somebody has asked for it: everything before the last turn goes, also where there is room for more. */
  readonly isWished?: boolean;
}

/** Keeps conversations within what their model can read. */
export interface Compaction {
  /** Tokens that the next request takes and may take; undefined while it fits. */
  need(room: Room): { readonly estimated: number; readonly budget: number } | undefined;
  /** The provider said that the request was too long: from now on this model is given less. */
  learn(room: Room): void;
  /**
   * What to write into the session's log so that the next request fits; undefined when nothing can be left out. Whole
   * turns are replaced by a summary; when only the current one is left, its older tool results are shortened.
   */
  plan(room: Room, signal: AbortSignal): Promise<Payload<"context_compressed"> | undefined>;
}

/** Of the budget: what the newest turns may keep. */
const keptPart = 0.4;
const summaryTokens = 1500;
/** Of what the model can read: one piece of an old conversation that is to be summarised. */
const chunkPart = 0.5;
const limitMs = 120_000;
const answerRoom = 0.25;

const summarySystem = `You keep the memory of a long chat. Summarise it for yourself, so that you can go on as if you remembered it. Keep every fact that may matter later: names, numbers, dates, places, wishes, decisions, open tasks and promises, file names and what they hold, results of tools. Write short Markdown bullets in the conversation's language. If a summary of an earlier part is given, merge it in. Answer with the summary only.`;

export function createCompaction({ threshold, log }: CompactionOptions): Compaction {
  /** By model label: limits that were found the hard way. */
  const learned = new Map<string, number>();

  const budgetOf = (chosen: ChosenModel): number =>
    Math.min(readableTokens(chosen), learned.get(chosen.label) ?? Number.POSITIVE_INFINITY);

  return {
    need(room) {
      const estimated = estimateRoom(room);
      const budget = budgetOf(room.chosen);
      return estimated > budget * threshold() ? { estimated, budget } : undefined;
    },
    learn(room) {
      learned.set(room.chosen.label, Math.min(budgetOf(room.chosen), Math.floor(estimateRoom(room) * 0.8)));
    },
    async plan(room, signal) {
      const { history, chosen } = room;
      const budget = budgetOf(chosen);
      const before = estimateRoom(room);
      const gone = room.isWished === true ? olderPart(history).messages : messagesToReplace(room, budget);
      const counts = {
        original_message_count: history.size,
        estimated_tokens: before,
        token_budget: budget,
        utilization_pct: Math.round((before / budget) * 1000) / 10,
      };
      if (gone > 0) {
        const { strategy, summary, use } = await summarise(room, gone, budget, signal, log);
        const final_message_count = history.size - gone + 1;
        return { strategy, ...counts, final_message_count, summary, ...use };
      }
      const strategy: CompactionStrategy = "results";
      return history.hasLongResults
        ? { strategy, ...counts, final_message_count: history.size, summary: "Older tool results were shortened." }
        : undefined;
    },
  };
}

/** What this model can read in one request, with room for its answer left. */
export function readableTokens({ contextWindow, maxTokens }: ChosenModel): number {
  return Math.floor(contextWindow - Math.min(maxTokens, contextWindow * answerRoom));
}

/** What the next request takes, corrected by what the last one truly took. */
export function estimateRoom({ history, overhead }: Pick<Room, "history" | "overhead">): number {
  const plain = history.tokens + overhead;
  const known = history.calibration;
  if (known === undefined) return plain;
  const factor = known.actual / (known.estimated + overhead);
  return Math.round(plain * Math.min(3, Math.max(0.5, factor)));
}

/** What is before the last turn. */
export function olderPart(history: History): { readonly messages: number; readonly tokens: number } {
  const { size = 0, tokens = 0 } = history.turns().at(-1) ?? {};
  return { messages: history.size - size, tokens: history.tokens - tokens };
}

/** Whole turns from the beginning, so that what stays takes its part of the budget. The current turn always stays. */
function messagesToReplace({ history, currentTurnId, overhead }: Room, budget: number): number {
  const turns = history.turns();
  const allowed = Math.max(0, budget * keptPart - overhead);
  let kept = 0;
  let size = 0;
  for (const turn of [...turns].reverse()) {
    const isCurrent = turn.turnId === currentTurnId;
    if (!isCurrent && kept + turn.tokens > allowed) break;
    kept += turn.tokens;
    size += turn.size;
  }
  const gone = history.size - size;
  // One summary instead of one summary would gain nothing.
  return gone === 1 && turns.length > 0 && history.beginsWithSummary ? 0 : gone;
}

interface Summary {
  readonly strategy: CompactionStrategy;
  readonly summary: string;
  readonly use?: ModelUse;
}

async function summarise(
  { history, chosen }: Room,
  gone: number,
  budget: number,
  signal: AbortSignal,
  log: Logger,
): Promise<Summary> {
  const messages = history.toMessages(undefined, undefined, gone);
  if (canWrite(chosen)) {
    using scope = linked(signal, limitMs);
    try {
      return { strategy: "summary", ...(await askForSummary(chosen, messages, budget, scope.signal)) };
    } catch (error) {
      signal.throwIfAborted();
      log.warn(`The model gave no summary, so the first words of each message are used: ${messageOf(error)}`);
    }
  }
  return { strategy: "digest", summary: digest(messages) };
}

/** Piece by piece where the old part alone is too long: each summary goes into the next piece. */
async function askForSummary(
  chosen: ChosenModel,
  messages: readonly HistoryMessage[],
  budget: number,
  signal: AbortSignal,
): Promise<{ readonly summary: string; readonly use?: ModelUse }> {
  let summary = "";
  let use: ModelUse | undefined;
  for (const piece of piecesOf(messages, Math.max(1000, Math.floor(budget * chunkPart)))) {
    const text = summary === "" ? piece : `Summary so far:\n${summary}\n\nWhat came after it:\n${piece}`;
    const answer = await askModel(chosen, { system: summarySystem, text, maxTokens: summaryTokens }, signal);
    if (answer.text === "") throw new Error("it was empty");
    summary = answer.text;
    use = addUse(use, answer.use);
  }
  return { summary, ...(use === undefined ? {} : { use }) };
}

function piecesOf(messages: readonly HistoryMessage[], maxTokens: number): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  let tokens = 0;
  for (const message of messages) {
    for (const part of slices(asText(message), maxTokens)) {
      const size = estimateTokens(part);
      if (tokens > 0 && tokens + size > maxTokens) {
        pieces.push(piece);
        piece = "";
        tokens = 0;
      }
      piece += `${part}\n\n`;
      tokens += size;
    }
  }
  return piece === "" ? pieces : [...pieces, piece];
}

function slices(text: string, maxTokens: number): readonly string[] {
  const parts: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const part = cutText(rest, maxTokens);
    parts.push(part);
    rest = rest.slice(part.length);
  }
  return parts;
}

const maxResultInTranscript = 1000;

function asText(message: HistoryMessage): string {
  switch (message.role) {
    case "user":
      return `user: ${message.content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n")}`;
    case "assistant":
      return `assistant: ${message.content
        .map((part) => {
          if (part.type === "text") return part.text;
          return part.type === "tool_use" ? `[calls ${part.name} ${cutText(JSON.stringify(part.input), 500)}]` : "";
        })
        .join("\n")}`;
    case "tool":
      return message.content.map(({ content }) => `[result] ${cutText(content, maxResultInTranscript)}`).join("\n");
    default:
      return message satisfies never;
  }
}

const digestLength = 6000;
const beginnings = { user: 300, assistant: 120 };

/** Without a model: how each message begins, the newest ones if there is no room for all. */
function digest(messages: readonly HistoryMessage[]): string {
  const lines = messages.flatMap((message) => {
    if (message.role === "tool") return [];
    const text = asText(message);
    const earlier = /<summary>\n[^\n]*\n([\s\S]*)\n<\/summary>/.exec(text)?.[1];
    if (earlier !== undefined) return earlier.split("\n");
    const plain = text.replace(/<now>[^<]*<\/now>/g, "").replace(/\s+/g, " ");
    return [`- ${cutText(plain, beginnings[message.role])}`];
  });
  let kept = "";
  for (const line of lines.reverse()) {
    if (kept.length + line.length > digestLength) break;
    kept = `${line}\n${kept}`;
  }
  return kept.trim();
}

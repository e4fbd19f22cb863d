import { type ContentPart, noUsage, type StopReason, type ToolResultPart, type Usage } from "../content.js";
import type { Guess } from "../model-use.js";
import { answerCost, parseObject, settledStopReason, toToolUse } from "./answer.js";
import type { AnswerChunk, CutUse, Machine, MachineInput, MachineOutput, Step, TokenPrice } from "./input.js";

type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string; readonly signature?: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly json: string };

interface OpenAnswer {
  readonly messageId: string;
  readonly model: string;
  readonly iteration: number;
  readonly price: TokenPrice | undefined;
  /** Deltas told so far. */
  readonly deltas: number;
  /** In stream order. */
  readonly pieces: readonly Piece[];
}

export interface MessageState {
  readonly open: OpenAnswer | undefined;
  /** Ids of the last answer's calls, in its order. */
  readonly callIds: readonly string[];
  /** In order of arrival. */
  readonly results: readonly ToolResultPart[];
}

/**
 * Joins the chunks of an answer: tells each one as a stream event, and the whole as `assistant_message` at its end.
 * An answer without text and calls leaves no message. Pairs the results of its calls by id.
 */
export const messageAssembler: Machine<MessageState> = {
  name: "message",
  initial: { open: undefined, callIds: [], results: [] },
  step,
};

/** The results that have arrived, in the order of the calls. */
export function toolResultsOf(state: MessageState): readonly ToolResultPart[] {
  return state.callIds.flatMap((id) => state.results.find((result) => result.tool_call_id === id) ?? []);
}

function step(state: MessageState, input: MachineInput): Step<MessageState> {
  switch (input.kind) {
    case "stream_started":
      return startStream(state, input);
    case "chunk":
      return state.open === undefined ? [state, []] : takeChunk(state, state.open, input.chunk);
    case "stream_failed":
      return cut(state, "error", input.willRetry !== true, input.spent);
    case "interrupted":
      return cut(state, "interrupted", true, input.spent);
    case "turn_ended":
      return [
        messageAssembler.initial,
        cut(state, input.outcome.end === "cancelled" ? "interrupted" : "error", true)[1],
      ];
    case "answer_stored":
      return [{ open: undefined, callIds: callIdsOf(input.message.content), results: [] }, []];
    case "tool_finished":
      return [withResult(state, input), []];
    default:
      return [state, []];
  }
}

function startStream(
  state: MessageState,
  input: Extract<MachineInput, { readonly kind: "stream_started" }>,
): Step<MessageState> {
  const { messageId, model, iteration, price } = input;
  // An answer that was never closed was given up for this one.
  const [, abandoned] = cut(state, "error", false);
  const open: OpenAnswer = { messageId, model, iteration, price, deltas: 0, pieces: [] };
  return [
    { open, callIds: [], results: [] },
    [...abandoned, { type: "message_stream_start", payload: { message_id: messageId, model, iteration } }],
  ];
}

function takeChunk(state: MessageState, open: OpenAnswer, chunk: AnswerChunk): Step<MessageState> {
  const goOn = (pieces: readonly Piece[], output?: MachineOutput): Step<MessageState> => {
    const deltas = output?.delta_index === undefined ? open.deltas : open.deltas + 1;
    return [{ ...state, open: { ...open, pieces, deltas } }, output === undefined ? [] : [output]];
  };
  const message_id = open.messageId;
  const delta_index = open.deltas;
  switch (chunk.kind) {
    case "text":
      if (chunk.text === "") return [state, []];
      return goOn(withText(open.pieces, chunk.text), {
        type: "text_delta",
        payload: { message_id, text: chunk.text },
        delta_index,
      });
    case "thinking":
      if (chunk.text === "") return [state, []];
      return goOn(withThinking(open.pieces, chunk.text), {
        type: "thinking_delta",
        payload: { message_id, text: chunk.text },
        delta_index,
      });
    case "thinking_signature":
      return goOn(withSignature(open.pieces, chunk.signature));
    case "tool_call":
      // Results are paired by id, so an id counts once.
      if (hasCall(open.pieces, chunk.id)) return [state, []];
      return goOn([...open.pieces, { type: "call", id: chunk.id, name: chunk.name, json: "" }], {
        type: "tool_call_start",
        payload: { message_id, tool_call_id: chunk.id, tool_name: chunk.name },
      });
    case "tool_input":
      if (chunk.json === "" || !hasCall(open.pieces, chunk.id)) return [state, []];
      return goOn(withToolInput(open.pieces, chunk.id, chunk.json), {
        type: "tool_input_delta",
        payload: { tool_call_id: chunk.id, partial_json: chunk.json },
        delta_index,
      });
    case "end":
      return endStream(state, open, chunk);
    default:
      return [state, []];
  }
}

function endStream(
  state: MessageState,
  open: OpenAnswer,
  end: Extract<AnswerChunk, { readonly kind: "end" }>,
): Step<MessageState> {
  const stopReason = settledStopReason(
    end.stopReason,
    open.pieces.some((piece) => piece.type === "call"),
  );
  // Calls of an answer that was cut off are not run: kept, they would wait for their results for ever.
  const pieces = stopReason === "tool_use" ? open.pieces : open.pieces.filter((piece) => piece.type !== "call");
  const { usage, costUsd, guess } = end;
  return close(state, open, { stopReason, usage, costUsd, guess, content: pieces.map(toPart), partial: false });
}

/** Ends an open answer before its time. */
function cut(
  state: MessageState,
  stopReason: "error" | "interrupted",
  isKept: boolean,
  { usage, cost_usd: costUsd, guess }: CutUse = { usage: noUsage },
): Step<MessageState> {
  const { open } = state;
  if (open === undefined) return [state, []];
  const whole = open.pieces.filter((piece) => piece.type !== "call" || parseObject(piece.json) !== undefined);
  const content = isKept ? whole.map(toPart) : [];
  return close(state, open, { stopReason, usage, costUsd, guess, content, partial: true });
}

interface Ending {
  readonly stopReason: StopReason;
  readonly usage: Usage;
  readonly costUsd?: number | undefined;
  readonly guess: Guess | undefined;
  readonly content: readonly ContentPart[];
  readonly partial: boolean;
}

function close(state: MessageState, open: OpenAnswer, ending: Ending): Step<MessageState> {
  const { stopReason, usage, guess, content, partial } = ending;
  const message_id = open.messageId;
  const end: MachineOutput = {
    type: "message_stream_end",
    payload: { message_id, stop_reason: stopReason, usage },
  };
  if (isEmpty(content)) return [{ ...state, open: undefined }, [end]];
  const callIds = callIdsOf(content);
  const cost_usd = answerCost(ending, open.price);
  const message: MachineOutput = {
    type: "assistant_message",
    payload: {
      message_id,
      content: [...content],
      model: open.model,
      iteration: open.iteration,
      stop_reason: stopReason,
      usage,
      ...(cost_usd === undefined ? {} : { cost_usd }),
      ...(guess === undefined ? {} : { guess }),
      final: !partial && callIds.length === 0,
      partial,
    },
  };
  return [{ open: undefined, callIds, results: [] }, [end, message]];
}

function withResult(
  state: MessageState,
  input: Extract<MachineInput, { readonly kind: "tool_finished" }>,
): MessageState {
  const id = input.toolCallId;
  const isKnown = state.callIds.includes(id) && !state.results.some((result) => result.tool_call_id === id);
  if (!isKnown) return state;
  const result = { type: "tool_result", tool_call_id: id, content: input.output, is_error: input.isError } as const;
  return { ...state, results: [...state.results, result] };
}

function withText(pieces: readonly Piece[], text: string): readonly Piece[] {
  const last = pieces.at(-1);
  if (last?.type !== "text") return [...pieces, { type: "text", text }];
  return [...pieces.slice(0, -1), { type: "text", text: last.text + text }];
}

function withThinking(pieces: readonly Piece[], text: string): readonly Piece[] {
  const last = pieces.at(-1);
  if (last?.type !== "thinking" || last.signature !== undefined) return [...pieces, { type: "thinking", text }];
  return [...pieces.slice(0, -1), { type: "thinking", text: last.text + text }];
}

/** A signature may also come without any text before it, when the provider hides the thinking. */
function withSignature(pieces: readonly Piece[], signature: string): readonly Piece[] {
  const last = pieces.at(-1);
  if (last?.type !== "thinking" || last.signature !== undefined) {
    return [...pieces, { type: "thinking", text: "", signature }];
  }
  return [...pieces.slice(0, -1), { ...last, signature }];
}

function withToolInput(pieces: readonly Piece[], id: string, json: string): readonly Piece[] {
  return pieces.map((piece) =>
    piece.type === "call" && piece.id === id ? { ...piece, json: piece.json + json } : piece,
  );
}

function hasCall(pieces: readonly Piece[], id: string): boolean {
  return pieces.some((piece) => piece.type === "call" && piece.id === id);
}

function toPart(piece: Piece): ContentPart {
  return piece.type === "call" ? toToolUse(piece.id, piece.name, piece.json) : { ...piece };
}

function callIdsOf(content: readonly ContentPart[]): readonly string[] {
  return content.flatMap((part) => (part.type === "tool_use" ? [part.id] : []));
}

/** Nothing that a person or a tool could make use of. */
function isEmpty(content: readonly ContentPart[]): boolean {
  return !content.some((part) => part.type === "tool_use" || (part.type === "text" && part.text.trim() !== ""));
}

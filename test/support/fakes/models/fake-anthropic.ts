import { anthropicProblems } from "../../rules/anthropic-rules.js";
import {
  type AnswerScript,
  type FakeModelServer,
  list,
  orderedPieces,
  piecesOf,
  type ScriptedAnswer,
  startFakeModel,
  usageOf,
  type Wire,
} from "../../worlds/model-script.js";

/** A messages server at the wire. Its `apiBase` goes into `providers.anthropic.apiBase`. */
export function startFakeAnthropic(options: { readonly answer: AnswerScript }): Promise<FakeModelServer> {
  return startFakeModel(wire, options.answer);
}

const wire: Wire = {
  problemsOf: anthropicProblems,
  basePath: "",
  frames(answer, model) {
    const frames = [
      frame("message_start", {
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: answer.usage === false ? {} : { ...usage(answer), output_tokens: 1 },
        },
      }),
      frame("ping", {}),
    ];
    let index = 0;
    const block = (start: object, deltas: readonly object[]): void => {
      frames.push(frame("content_block_start", { index, content_block: start }));
      for (const delta of deltas) frames.push(frame("content_block_delta", { index, delta }));
      frames.push(frame("content_block_stop", { index }));
      index += 1;
    };
    if (answer.thinking !== undefined || answer.signature !== undefined) {
      const deltas: object[] = list(answer.thinking).map((thinking) => ({ type: "thinking_delta", thinking }));
      if (answer.signature !== undefined) deltas.push({ type: "signature_delta", signature: answer.signature });
      block({ type: "thinking", thinking: "", signature: "" }, deltas);
    }
    if (answer.text !== undefined) {
      block(
        { type: "text", text: "" },
        list(answer.text).map((text) => ({ type: "text_delta", text })),
      );
    }
    frames.push(...toolFrames(answer, index));
    const end = [
      frame("message_delta", {
        delta: { stop_reason: stopReason(answer), stop_sequence: null },
        usage: answer.usage === false ? {} : { output_tokens: usageOf(answer).output },
      }),
      frame("message_stop", {}),
    ];
    return { frames: [...frames, ...end], endFrames: end.length };
  },
  whole: (answer, model) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content: [
      ...(answer.thinking === undefined
        ? []
        : [{ type: "thinking", thinking: list(answer.thinking).join(""), signature: answer.signature ?? "" }]),
      ...(answer.text === undefined ? [] : [{ type: "text", text: list(answer.text).join("") }]),
      ...(answer.toolCalls ?? []).map((call) => ({
        type: "tool_use",
        id: call.id,
        name: call.name,
        input: JSON.parse(piecesOf(call).join("") || "{}"),
      })),
    ],
    stop_reason: stopReason(answer),
    usage: answer.usage === false ? {} : usage(answer),
  }),
  errorFrame: (error) => frame("error", { error }),
  errorBody: (status) => ({ type: "error", error: { type: "error", message: `scripted status ${status}` } }),
  unknownFrame: `: comment\n\nevent: content_hologram\ndata: {"type":"content_hologram"}\n\n`,
};

function toolFrames(answer: ScriptedAnswer, first: number): readonly string[] {
  const calls = answer.toolCalls ?? [];
  const frames: string[] = [];
  const start = (n: number): void => {
    const call = calls[n];
    if (call === undefined) return;
    const block = { type: "tool_use", name: call.name, input: {}, ...(call.id === undefined ? {} : { id: call.id }) };
    frames.push(frame("content_block_start", { index: first + n, content_block: block }));
  };
  const piece = (n: number, json: string): void => {
    frames.push(
      frame("content_block_delta", { index: first + n, delta: { type: "input_json_delta", partial_json: json } }),
    );
  };
  const stop = (n: number): void => {
    frames.push(frame("content_block_stop", { index: first + n }));
  };
  const indexes = calls.map((_, n) => n);
  if (answer.interleaved === true) {
    for (const n of indexes) start(n);
    for (const { call, json } of orderedPieces(answer)) piece(call, json);
    for (const n of indexes) stop(n);
  } else {
    for (const n of indexes) {
      start(n);
      for (const json of piecesOf(calls[n] ?? { name: "" })) piece(n, json);
      stop(n);
    }
  }
  return frames;
}

function frame(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

function stopReason(answer: ScriptedAnswer): string {
  return answer.stopReason ?? (answer.toolCalls === undefined ? "end_turn" : "tool_use");
}

function usage(answer: ScriptedAnswer): object {
  const { input, output, cacheRead, cacheWrite } = usageOf(answer);
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  };
}

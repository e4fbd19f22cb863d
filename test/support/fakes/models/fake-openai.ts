import { openAIProblems } from "../../rules/openai-rules.js";
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

/** A chat completions server at the wire. Its `apiBase` goes into `providers.openai.apiBase`. */
export function startFakeOpenAI(options: { readonly answer: AnswerScript }): Promise<FakeModelServer> {
  return startFakeModel(wire, options.answer);
}

const finishReasons = {
  end_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  refusal: "content_filter",
} as const;

const wire: Wire = {
  problemsOf: openAIProblems,
  basePath: "/v1",
  frames(answer, model) {
    const deltas: unknown[] = [{ role: "assistant", content: "" }];
    for (const text of list(answer.thinking)) deltas.push({ reasoning_content: text });
    for (const text of list(answer.text)) deltas.push({ content: text });
    const calls = answer.toolCalls ?? [];
    const named = new Set<number>();
    const name = (index: number): void => {
      const call = calls[index];
      if (call === undefined || named.has(index)) return;
      named.add(index);
      const start = { index, type: "function", function: { name: call.name, arguments: "" } };
      deltas.push({ tool_calls: [call.id === undefined ? start : { id: call.id, ...start }] });
    };
    if (answer.interleaved === true)
      calls.forEach((_, index) => {
        name(index);
      });
    orderedPieces(answer).forEach(({ call, json }) => {
      for (let index = 0; index <= call; index += 1) name(index);
      deltas.push({ tool_calls: [{ index: call, function: { arguments: json } }] });
    });
    calls.forEach((_, index) => {
      name(index);
    });

    const frames = deltas.map((delta) => frame(model, { choices: [{ index: 0, delta, finish_reason: null }] }));
    const end = [frame(model, { choices: [{ index: 0, delta: {}, finish_reason: finishReason(answer) }] })];
    if (answer.usage !== false) end.push(frame(model, { choices: [], usage: usage(answer) }));
    end.push("data: [DONE]\n\n");
    return { frames: [...frames, ...end], endFrames: end.length };
  },
  whole: (answer, model) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: answer.text === undefined ? null : list(answer.text).join(""),
          ...(answer.thinking === undefined ? {} : { reasoning_content: list(answer.thinking).join("") }),
          ...(answer.toolCalls === undefined
            ? {}
            : {
                tool_calls: answer.toolCalls.map((call) => ({
                  id: call.id,
                  type: "function",
                  function: { name: call.name, arguments: piecesOf(call).join("") },
                })),
              }),
        },
        finish_reason: finishReason(answer),
      },
    ],
    ...(answer.usage === false ? {} : { usage: usage(answer) }),
  }),
  errorFrame: (error) => `data: ${JSON.stringify({ error: { ...error, code: error.type } })}\n\n`,
  errorBody: (status) => ({ error: { message: `scripted status ${status}`, type: "error", code: null } }),
  unknownFrame: `: comment\n\ndata: {"object":"chat.surprise","anything":[1]}\n\ndata: {"choices":[{"index":0,"delta":{"holograms":{}}}]}\n\n`,
};

function frame(model: string, chunk: object): string {
  return `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model, ...chunk })}\n\n`;
}

function finishReason(answer: ScriptedAnswer): string {
  return finishReasons[answer.stopReason ?? (answer.toolCalls === undefined ? "end_turn" : "tool_use")];
}

/** This wire counts cached tokens among the prompt's. */
function usage(answer: ScriptedAnswer): object {
  const { input, output, cacheRead, cacheWrite } = usageOf(answer);
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      ...(cacheWrite === 0 ? {} : { cache_write_tokens: cacheWrite }),
    },
  };
}

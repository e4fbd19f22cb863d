import { textOf } from "../../events/content.js";
import type { ModelMessage, ModelRequest, Provider, ProviderChunk } from "../provider.js";
import { type Language, missingTool, plainReply, report } from "./speak.js";
import { hear, isChinese, understand, type Wish } from "./understand.js";

/**
 * A small rule-based stand-in for when no model is configured. It says what it is, understands a few plain requests in
 * English and Chinese, and calls the tools that the request offers. The same request always gets the same answer.
 */
export function createOfflineProvider(): Provider {
  return {
    name: "offline",
    async *stream(request, signal) {
      for (const chunk of answer(request)) {
        signal.throwIfAborted();
        yield chunk;
        // Lets others run between the pieces, as a network would.
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

function* answer(request: ModelRequest): Generator<ProviderChunk> {
  const asked = request.messages.findLast((message) => message.role === "user");
  const { words, clock } = hear(asked === undefined ? "" : textOf(asked.content));
  const language: Language = isChinese(words) ? "zh" : "en";
  const wish = understand(words);

  const last = request.messages.at(-1);
  if (last?.role === "tool") {
    yield* say(last.content.map((result) => report(wish, result, language)).join("\n\n"), request);
    return;
  }
  const call = toolCallFor(wish);
  if (call === undefined) {
    yield* say(plainReply(wish, clock, language), request);
    return;
  }
  if (!request.tools.some((tool) => tool.name === call.name)) {
    yield* say(missingTool(call.name, language), request);
    return;
  }
  const id = `offline_${request.messages.length}`;
  const json = JSON.stringify(call.input);
  yield { kind: "tool_call", id, name: call.name };
  yield { kind: "tool_input", id, json };
  yield { kind: "end", stopReason: "tool_use", usage: estimate(request, json) };
}

interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
}

function toolCallFor(wish: Wish): Call | undefined {
  switch (wish.kind) {
    case "list":
      return { name: "list_dir", input: wish.path === undefined ? {} : { path: wish.path } };
    case "read":
    case "summarise":
      return { name: "read_file", input: { path: wish.path } };
    case "write":
      return { name: "write_file", input: { path: wish.path, content: wish.content } };
    case "help":
    case "greeting":
    case "time":
    case "unknown":
      return undefined;
    default:
      return wish satisfies never;
  }
}

const pieceOfText = /[\s\S]{1,24}/gu;

function* say(text: string, request: ModelRequest): Generator<ProviderChunk> {
  for (const [piece] of text.matchAll(pieceOfText)) yield { kind: "text", text: piece };
  yield { kind: "end", stopReason: "end_turn", usage: estimate(request, text) };
}

function estimate(request: ModelRequest, said: string) {
  const characters = request.system.length + lengthOf(request.messages) + JSON.stringify(request.tools).length;
  return {
    input_tokens: Math.ceil(characters / 4),
    output_tokens: Math.ceil(said.length / 4),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
  };
}

function lengthOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + JSON.stringify(message.content).length, 0);
}

import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { type ImagePart, type TextPart, type ThinkingPart, type ToolUsePart, textOf } from "../../events/content.js";
import { wellFormed } from "../../util/text/well-formed.js";
import type { Adjustments } from "../adjustments.js";
import type { ModelMessage, ModelRequest } from "../provider.js";
import { toCompactSchema } from "../request/compact-schema.js";
import { loadImage } from "../request/images.js";
import { toLevel } from "../request/thinking.js";
import { toValidMessages } from "../request/valid-messages.js";
import { fromGoogleSignature } from "./google-signature.js";

/** OpenAI takes ids of at most 40 characters; some models want back exactly the id that they gave. */
const goodId = /^[\x21-\x7e]{1,40}$/;

type AssistantMessage = Extract<ChatCompletionMessageParam, { role: "assistant" }> & {
  readonly reasoning_content?: string;
};

/** The request as the chat completions API wants it. */
export async function toChatRequest(
  request: ModelRequest,
  adjustments: Adjustments,
): Promise<ChatCompletionCreateParamsStreaming> {
  const messages: ChatCompletionMessageParam[] = [];
  if (request.system !== "") messages.push({ role: "system", content: wellFormed(request.system) });
  for (const message of withImagesBehindResults(toValidMessages(request.messages, goodId))) {
    const text = onlyText(message);
    if (text !== undefined) {
      messages.push(text);
      continue;
    }
    const wire = toWire(message, adjustments);
    // Only images have to be waited for: a long conversation of text takes no detour over the event loop.
    messages.push(...(wire instanceof Promise ? await wire : wire));
  }
  const tools = adjustments.has("no_tools") ? [] : request.tools;
  return {
    model: request.model,
    messages,
    ...(tools.length === 0 ? {} : { tools: tools.map(toWireTool) }),
    ...(adjustments.has("max_completion_tokens")
      ? { max_completion_tokens: request.maxTokens }
      : { max_tokens: request.maxTokens }),
    ...(request.thinking === undefined || adjustments.has("no_reasoning_effort") || adjustments.has("no_thinking")
      ? {}
      : { reasoning_effort: request.thinking === "off" ? ("none" as const) : toLevel(request.thinking) }),
    ...(request.temperature === undefined || adjustments.has("no_temperature")
      ? {}
      : { temperature: request.temperature }),
    stream: true,
    ...(adjustments.has("no_stream_options") ? {} : { stream_options: { include_usage: true } }),
  };
}

/** Results of tools are text only in this API: what there is to see comes behind them, as if the person had sent it. */
function withImagesBehindResults(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  if (!messages.some((message) => imagesIn(message).length > 0)) return messages;
  const result: ModelMessage[] = [];
  for (const message of messages) {
    const images = imagesIn(result.at(-1));
    if (message.role === "user" && images.length > 0)
      result.push({ role: "user", content: [...images, ...message.content] });
    else {
      if (images.length > 0) result.push({ role: "user", content: images });
      result.push(message);
    }
  }
  const images = imagesIn(result.at(-1));
  if (images.length > 0) result.push({ role: "user", content: images });
  return result;
}

function imagesIn(message: ModelMessage | undefined): readonly ImagePart[] {
  return message?.role === "tool" ? message.content.flatMap(({ images = [] }) => images) : [];
}

/** The same messages come again with each request of a conversation: most of them are looked at once only. */
const onlyTexts = new WeakMap<ModelMessage, ChatCompletionMessageParam>();

function onlyText(message: ModelMessage): ChatCompletionMessageParam | undefined {
  const known = onlyTexts.get(message);
  if (known !== undefined) return known;
  const { role, content } = message;
  const part = content[0];
  if (role === "tool" || content.length !== 1 || part?.type !== "text") return undefined;
  const wire = { role, content: part.text };
  onlyTexts.set(message, wire);
  return wire;
}

function toWireTool(tool: ModelRequest["tools"][number]) {
  const { name, description, inputSchema } = tool;
  const parameters = toCompactSchema(inputSchema);
  return { type: "function" as const, function: { name, description: wellFormed(description), parameters } };
}

type WireMessages = readonly ChatCompletionMessageParam[];

function toWire(message: ModelMessage, adjustments: Adjustments): WireMessages | Promise<WireMessages> {
  switch (message.role) {
    case "user":
      if (message.content.every((part) => part.type === "text"))
        return [{ role: "user", content: message.content.map((part) => part.text).join("\n\n") }];
      return userContent(message.content).then((content) => [{ role: "user", content }]);
    case "assistant":
      return [toWireAssistant(message.content, adjustments)];
    case "tool":
      return message.content.map((result) => ({
        role: "tool",
        tool_call_id: result.tool_call_id,
        content: result.content,
      }));
    default:
      return message satisfies never;
  }
}

/** Plain text stays a string: many servers know nothing else. */
async function userContent(parts: readonly (TextPart | ImagePart)[]): Promise<string | ChatCompletionContentPart[]> {
  const content = await Promise.all(parts.map(toWirePart));
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === content.length ? texts.join("\n\n") : content;
}

async function toWirePart(part: TextPart | ImagePart): Promise<ChatCompletionContentPart> {
  if (part.type === "text") return { type: "text", text: part.text };
  const image = await loadImage(part);
  if (image.kind === "missing") return { type: "text", text: image.text };
  return { type: "image_url", image_url: { url: `data:${image.mimeType};base64,${image.base64}` } };
}

function toWireAssistant(
  parts: readonly (TextPart | ThinkingPart | ToolUsePart)[],
  adjustments: Adjustments,
): AssistantMessage {
  const text = textOf(parts);
  const calls = parts.filter((part) => part.type === "tool_use");
  if (calls.length === 0) return { role: "assistant", content: text };
  const thinking = parts.map((part) => (part.type === "thinking" ? part.text : "")).join("");
  const signatures = signaturesOf(parts);
  const standIn = adjustments.has("thought_signature") && signatures.size === 0 ? calls[0]?.id : undefined;
  return {
    role: "assistant",
    content: text === "" ? null : text,
    ...(adjustments.has("reasoning_content") ? { reasoning_content: thinking } : {}),
    tool_calls: calls.map((call) => {
      const signature = signatures.get(call.id) ?? (call.id === standIn ? noSignature : undefined);
      return {
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: JSON.stringify(call.input) },
        ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
      };
    }),
  };
}

/** Stands for a proof that nobody has. https://ai.google.dev/gemini-api/docs/thought-signatures */
const noSignature = "skip_thought_signature_validator";

/** Gemini's own proofs, by the call that each was given with: the next one behind it. */
function signaturesOf(parts: readonly (TextPart | ThinkingPart | ToolUsePart)[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let last: string | undefined;
  for (const part of parts) {
    if (part.type === "thinking") last = fromGoogleSignature(part.signature ?? "") ?? last;
    if (part.type !== "tool_use" || last === undefined) continue;
    found.set(part.id, last);
    last = undefined;
  }
  return found;
}

import type {
  ContentBlockParam,
  ImageBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
  TextBlockParam,
  Tool,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import type { ImagePart, TextPart, ThinkingPart, ToolResultPart, ToolUsePart } from "../../events/content.js";
import { wellFormed } from "../../util/text/well-formed.js";
import type { Adjustments } from "../adjustments.js";
import type { ModelMessage, ModelRequest } from "../provider.js";
import { toCompactSchema } from "../request/compact-schema.js";
import { loadImage } from "../request/images.js";
import { toValidMessages } from "../request/valid-messages.js";
import { fromRedacted } from "./redacted.js";
import { thinkingFields } from "./thinking.js";

const goodId = /^[a-zA-Z0-9_-]{1,64}$/;
/** Everything up to here is cached for the next request. At most four marks are allowed. */
const mark = { cache_control: { type: "ephemeral" } } as const;

/** The request as the messages API wants it. */
export async function toMessagesRequest(
  request: ModelRequest,
  adjustments: Adjustments,
): Promise<MessageCreateParamsStreaming> {
  const valid = toValidMessages(request.messages, goodId);
  const messages = withMarks(await Promise.all(oneSidePerMessage(valid).map((side) => toWire(side, adjustments))));
  const tools = adjustments.has("no_tools") ? [] : request.tools.map(toWireTool);
  const thinking = thinkingFields(request, valid, adjustments);
  return {
    model: request.model,
    // This API counts thinking as part of the answer.
    max_tokens: request.maxTokens + thinking.extraTokens,
    ...(request.system === "" ? {} : { system: [{ type: "text", text: wellFormed(request.system), ...mark }] }),
    ...toolFields(tools, valid),
    messages,
    ...thinking.fields,
    ...(request.temperature === undefined || thinking.isOn || adjustments.has("no_temperature")
      ? {}
      : { temperature: Math.min(1, request.temperature) }),
    stream: true,
  };
}

function toWireTool({ name, description, inputSchema }: ModelRequest["tools"][number]): Tool {
  return { name, description: wellFormed(description), input_schema: toCompactSchema(inputSchema) };
}

/** A conversation that holds tool calls is refused without tools, so those it used are named and forbidden. */
function toolFields(
  tools: readonly Tool[],
  messages: readonly ModelMessage[],
): Pick<MessageCreateParamsStreaming, "tools" | "tool_choice"> {
  const last = tools.at(-1);
  if (last !== undefined) return { tools: [...tools.slice(0, -1), { ...last, ...mark }] };
  const used = new Set(
    messages.flatMap((message) =>
      message.role === "assistant"
        ? message.content.flatMap((part) => (part.type === "tool_use" ? [part.name] : []))
        : [],
    ),
  );
  if (used.size === 0) return {};
  return {
    tools: [...used].sort().map((name) => ({ name, input_schema: { type: "object", properties: {} } })),
    tool_choice: { type: "none" },
  };
}

type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;
type UserSide = readonly Exclude<ModelMessage, AssistantMessage>[];

/** Tool results are on the user's side here, in one message with the text that follows them. */
function oneSidePerMessage(messages: readonly ModelMessage[]): readonly (AssistantMessage | UserSide)[] {
  const sides: (AssistantMessage | Exclude<ModelMessage, AssistantMessage>[])[] = [];
  for (const message of messages) {
    const last = sides.at(-1);
    if (message.role === "assistant") sides.push(message);
    else if (Array.isArray(last)) last.push(message);
    else sides.push([message]);
  }
  return sides;
}

async function toWire(side: AssistantMessage | UserSide, adjustments: Adjustments): Promise<MessageParam> {
  if ("role" in side) {
    const blocks = side.content.flatMap((part) => assistantBlock(part, adjustments));
    // Thinking may not be the last block.
    const end = blocks.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking") + 1;
    return { role: "assistant", content: blocks.slice(0, end) };
  }
  const blocks = await Promise.all(side.map(userBlocks));
  return { role: "user", content: blocks.flat() };
}

function assistantBlock(part: TextPart | ThinkingPart | ToolUsePart, adjustments: Adjustments): ContentBlockParam[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "tool_use":
      return [{ type: "tool_use", id: part.id, name: part.name, input: part.input }];
    case "thinking": {
      if (part.signature === undefined || part.signature === "" || adjustments.has("no_thinking_back")) return [];
      const redacted = fromRedacted(part.signature);
      if (redacted !== undefined) return [{ type: "redacted_thinking", data: redacted }];
      return [{ type: "thinking", thinking: part.text, signature: part.signature }];
    }
    default:
      return part satisfies never;
  }
}

async function userBlocks(message: UserSide[number]): Promise<ContentBlockParam[]> {
  if (message.role === "user") return Promise.all(message.content.map(toWirePart));
  return Promise.all(message.content.map(resultBlock));
}

async function resultBlock({
  tool_call_id,
  content,
  is_error,
  images = [],
}: ToolResultPart): Promise<ToolResultBlockParam> {
  // An error may hold text only.
  const shown = is_error ? [] : await Promise.all(images.map(toWirePart));
  return {
    type: "tool_result",
    tool_use_id: tool_call_id,
    content: shown.length === 0 ? content : [{ type: "text", text: content }, ...shown],
    ...(is_error ? { is_error: true } : {}),
  };
}

async function toWirePart(part: TextPart | ImagePart): Promise<TextBlockParam | ImageBlockParam> {
  if (part.type === "text") return { type: "text", text: part.text };
  const image = await loadImage(part);
  if (image.kind === "missing") return { type: "text", text: image.text };
  return { type: "image", source: { type: "base64", media_type: image.mimeType, data: image.base64 } };
}

/**
 * Marks the last message, which the next request repeats, and the user's side before it: the API looks back 20 blocks
 * only, and one answer may call more tools than that.
 */
function withMarks(messages: readonly MessageParam[]): MessageParam[] {
  return messages.map((message, index) => {
    const isMarked = message.role === "user" && index >= messages.length - 3;
    if (!isMarked || typeof message.content === "string") return message;
    const last = message.content.at(-1);
    if (last === undefined || last.type === "thinking" || last.type === "redacted_thinking") return message;
    return { ...message, content: [...message.content.slice(0, -1), { ...last, ...mark }] };
  });
}

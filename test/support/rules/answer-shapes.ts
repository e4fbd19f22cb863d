/** How answers look on the wires of servers that people use, each in a few words of our own. */
export interface AnswerShape {
  readonly name: string;
  /** Default `openai`. */
  readonly wire?: "openai" | "anthropic";
  /** Default `text/event-stream`. */
  readonly type?: string;
  readonly body: string;
  readonly text?: string;
  readonly thinking?: string;
  /** Name and JSON of each call. */
  readonly calls?: readonly (readonly [string, string])[];
  /** Default `end_turn`, with calls `tool_use`. */
  readonly stopReason?: string;
  /** Tokens in and out; default none told. */
  readonly usage?: readonly [number, number];
}

/** One frame for each event. */
export function frames(...events: readonly unknown[]): string {
  return events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
}

const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields, finish_reason: null }] });
const say = (...texts: readonly string[]) => texts.map((content) => delta({ content }));
const stop = (reason = "stop") => ({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
const chat = (message: object, more: object = {}) =>
  JSON.stringify({
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }],
    ...more,
  });
const call = (fields: object) => delta({ tool_calls: [fields] });
const fn = (name: string | undefined, args: unknown) => ({
  function: { ...(name === undefined ? {} : { name }), arguments: args },
});
const json = "application/json";

const openaiStreams: readonly AnswerShape[] = [
  { name: "no finish_reason before [DONE]", body: frames(...say("He", "llo"), "[DONE]"), text: "Hello" },
  { name: "finish_reason, but no [DONE]", body: frames(...say("Hello"), stop()), text: "Hello" },
  {
    name: "the usage as its last word, with neither finish_reason nor [DONE]",
    body: frames(...say("Hello"), { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }),
    text: "Hello",
    usage: [3, 2],
  },
  { name: "no blank line behind the last event", body: `${frames(...say("Hello"))}data: [DONE]`, text: "Hello" },
  {
    name: "one line feed only between events",
    body: `${[...say("He", "llo"), stop()].map((event) => `data: ${JSON.stringify(event)}\n`).join("")}\n`,
    text: "Hello",
  },
  { name: "CRLF line ends", body: frames(...say("Hello"), stop()).replaceAll("\n", "\r\n"), text: "Hello" },
  { name: "CR line ends", body: frames(...say("Hello"), stop()).replaceAll("\n", "\r"), text: "Hello" },
  { name: "no blank after data:", body: frames(...say("Hello"), stop()).replaceAll("data: ", "data:"), text: "Hello" },
  { name: "a byte order mark", body: `\ufeff${frames(...say("Hello"), stop())}`, text: "Hello" },
  { name: "comments and empty events", body: `: hi\n\ndata:\n\n${frames(...say("Hello"), stop())}`, text: "Hello" },
  {
    name: "one event over two data lines",
    body: `data: {"choices":[{"delta":\ndata: {"content":"Hi"}}]}\n\n${frames(stop())}`,
    text: "Hi",
  },
  {
    name: "usage null, choices empty or null, errors null",
    body: frames({ choices: [], usage: null, error: null }, { choices: null }, ...say("Hello"), stop()),
    text: "Hello",
  },
  {
    name: 'finish_reason "" and "null" on the way',
    body: frames(
      { choices: [{ delta: { content: "Hel" }, finish_reason: "" }] },
      { choices: [{ delta: { content: "lo" }, finish_reason: "null" }] },
      stop(),
    ),
    text: "Hello",
  },
  { name: "finish_reason sensitive", body: frames(...say("No"), stop("sensitive")), text: "No", stopReason: "refusal" },
  {
    name: "finish_reason model_context_window_exceeded",
    body: frames(...say("Hel"), stop("model_context_window_exceeded")),
    text: "Hel",
    stopReason: "max_tokens",
  },
  {
    name: "message instead of delta, in a stream",
    body: frames(JSON.parse(chat({ content: "Hello" })), "[DONE]"),
    text: "Hello",
  },
  {
    name: "text of the older completions",
    body: frames({ choices: [{ text: "Hello", finish_reason: null }] }, stop()),
    text: "Hello",
  },
  {
    name: "Mistral's parts in a stream",
    body: frames(
      delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }),
      delta({ content: [{ type: "text", text: "Hel" }] }),
      ...say("lo"),
      stop(),
    ),
    thinking: "hm",
    text: "Hello",
  },
  {
    name: "Mistral's parts in a whole answer",
    type: json,
    body: chat({
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
        { type: "text", text: "Hel" },
        { type: "reference", reference_ids: [1] },
        { type: "text", text: "lo" },
      ],
    }),
    thinking: "hm",
    text: "Hello",
  },
  {
    name: "one part that is not a list",
    type: json,
    body: chat({ content: { type: "text", text: "Hello" } }),
    text: "Hello",
  },
  {
    name: "OpenRouter's reasoning_details alone",
    body: frames(delta({ reasoning_details: [{ type: "reasoning.text", text: "hm" }] }), ...say("Hello"), stop()),
    thinking: "hm",
    text: "Hello",
  },
  {
    name: "a whole answer that calls itself text",
    type: "text/plain",
    body: chat({ content: "Hello" }),
    text: "Hello",
  },
  { name: "a stream that calls itself JSON", type: json, body: frames(...say("Hello"), stop()), text: "Hello" },
  { name: "a stream without any type", type: "", body: frames(...say("Hello"), stop()), text: "Hello" },
  {
    name: "MiniMax's base_resp beside an answer",
    type: json,
    body: chat({ content: "Hello" }, { base_resp: { status_code: 0, status_msg: "" } }),
    text: "Hello",
  },
];

const toolCalls: readonly AnswerShape[] = [
  {
    name: "no index, the id in every piece",
    body: frames(
      call({ id: "a", ...fn("read", '{"f":') }),
      call({ id: "a", ...fn(undefined, '"x"}') }),
      stop("tool_calls"),
    ),
    calls: [["read", '{"f":"x"}']],
  },
  {
    name: "the name in every piece",
    body: frames(
      call({ index: 0, id: "a", ...fn("read", '{"f":') }),
      call({ index: 0, id: "a", ...fn("read", '"x"}') }),
      stop("tool_calls"),
    ),
    calls: [["read", '{"f":"x"}']],
  },
  {
    name: "a new id in every piece",
    body: frames(
      call({ index: 0, id: "a", ...fn("read", '{"f":') }),
      call({ index: 0, id: "b", ...fn(undefined, '"x"}') }),
      stop("tool_calls"),
    ),
    calls: [["read", '{"f":"x"}']],
  },
  {
    name: "the id and the name in the first piece, empty strings in the others",
    body: frames(
      call({ index: 0, id: "a", ...fn("read", "") }),
      call({ index: 0, id: "", ...fn("", '{"f":"x"}') }),
      stop("tool_calls"),
    ),
    calls: [["read", '{"f":"x"}']],
  },
  {
    name: "arguments as an object",
    body: frames(call({ index: 0, id: "a", ...fn("read", { f: "x" }) }), stop("tool_calls")),
    calls: [["read", '{"f":"x"}']],
  },
  {
    name: "arguments null",
    body: frames(call({ index: 0, id: "a", ...fn("now", null) }), stop("tool_calls")),
    calls: [["now", ""]],
  },
  {
    name: "two calls without index, id and arguments, in one piece",
    body: frames(delta({ tool_calls: [fn("now", ""), fn("list", "")] }), stop("tool_calls")),
    calls: [
      ["now", ""],
      ["list", ""],
    ],
  },
  {
    name: "an index that is text",
    body: frames(
      call({ index: "0", id: "a", ...fn("read", '{"f":') }),
      call({ index: "0", ...fn(undefined, '"x"}') }),
      stop("tool_calls"),
    ),
    calls: [["read", '{"f":"x"}']],
  },
  {
    name: "one call that is not a list",
    body: frames(delta({ tool_calls: { id: "a", ...fn("now", "{}") } }), stop("tool_calls")),
    calls: [["now", "{}"]],
  },
  {
    name: "the older function_call",
    body: frames(
      delta({ function_call: { name: "read", arguments: '{"f":' } }),
      delta({ function_call: { arguments: '"x"}' } }),
      stop("function_call"),
    ),
    calls: [["read", '{"f":"x"}']],
  },
  {
    name: "calls that end by stop",
    body: frames(call({ index: 0, id: "a", ...fn("now", "{}") }), stop()),
    calls: [["now", "{}"]],
  },
  {
    name: "calls before a bare [DONE]",
    body: frames(call({ index: 0, id: "a", ...fn("now", "{}") }), "[DONE]"),
    calls: [["now", "{}"]],
  },
];

const anthropicText = (text: string) => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "text_delta", text },
});
const messageStart = { type: "message_start", message: { usage: { input_tokens: 3, output_tokens: 1 } } };
const messageDelta = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } };

const anthropicStreams: readonly AnswerShape[] = [
  {
    name: "no event: lines",
    body: frames(messageStart, anthropicText("Hello"), messageDelta, { type: "message_stop" }),
    text: "Hello",
    usage: [3, 2],
  },
  {
    name: "no message_stop",
    body: frames(messageStart, anthropicText("Hello"), messageDelta),
    text: "Hello",
    usage: [3, 2],
  },
  {
    name: "no stop_reason before message_stop",
    body: frames(
      messageStart,
      anthropicText("Hello"),
      { type: "message_delta", usage: { output_tokens: 2 } },
      { type: "message_stop" },
    ),
    text: "Hello",
    usage: [3, 2],
  },
  {
    name: "event: lines that say nothing",
    body: frames(messageStart, anthropicText("Hello"), messageDelta).replaceAll("data: ", "event: message\ndata: "),
    text: "Hello",
    usage: [3, 2],
  },
  {
    name: "[DONE] at its end",
    body: frames(messageStart, anthropicText("Hello"), "[DONE]"),
    text: "Hello",
    usage: [3, 1],
  },
  {
    name: "usage null",
    body: frames({ type: "message_start", message: { usage: null } }, anthropicText("Hello"), {
      ...messageDelta,
      usage: null,
    }),
    text: "Hello",
  },
  {
    name: "the input of a call as text",
    body: frames(
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "read", input: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"f":"x"}' } },
      { type: "content_block_stop", index: 0 },
      messageDelta,
    ),
    calls: [["read", '{"f":"x"}']],
    usage: [0, 2],
  },
];

const thinks: readonly AnswerShape[] = [
  {
    name: "<think> before the text",
    body: frames(...say("<think>\nhm\n</think>\n\nHello"), stop()),
    thinking: "\nhm\n",
    text: "Hello",
  },
  {
    name: "<think> cut anywhere",
    body: frames(...say(..."\n<think>hm</think>\n\nHello"), stop()),
    thinking: "hm",
    text: "Hello",
  },
  {
    name: "<thinking>",
    body: frames(...say("<thinking>hm", "</thinking>Hello"), stop()),
    thinking: "hm",
    text: "Hello",
  },
  { name: "an empty <think>", body: frames(...say("<think>\n\n</think>\n\n", "Hello"), stop()), text: "Hello" },
  {
    name: "two of them, one behind the other",
    body: frames(...say("<think>a</think>\n<think>b</think>\nHello"), stop()),
    thinking: "ab",
    text: "Hello",
  },
  {
    name: "<think> in a whole answer",
    type: json,
    body: chat({ content: "<think>hm</think>Hello" }),
    thinking: "hm",
    text: "Hello",
  },
  {
    name: "<think> and then a call",
    body: frames(...say("<think>hm</think>\n\n"), call({ index: 0, id: "a", ...fn("now", "{}") }), stop("tool_calls")),
    thinking: "hm",
    calls: [["now", "{}"]],
  },
  {
    name: "a <think> that is never closed",
    body: frames(...say("<think> is a tag."), stop()),
    thinking: " is a tag.",
    text: "<think> is a tag.",
  },
  {
    name: "no opening tag, as R1's template has it",
    body: frames(...say("hm\n", "so\n</th", "ink>\n\nHel", "lo"), stop()),
    thinking: "hm\nso\n",
    text: "Hello",
  },
  {
    name: "no opening tag, all in one piece",
    body: frames(...say("hm.</think>Hello"), stop()),
    thinking: "hm.",
    text: "Hello",
  },
  {
    name: "a closing tag alone behind thinking of its own field",
    body: frames(delta({ reasoning_content: "hm" }), ...say("</think>\n\nHello"), stop()),
    thinking: "hm",
    text: "Hello",
  },
  {
    name: "<think> later in the text",
    body: frames(...say("Write <think>hm</think> so."), stop()),
    text: "Write <think>hm</think> so.",
  },
  {
    name: "tags in code",
    body: frames(...say("```\n<think>\n</think>\n```\nand `x</think>`"), stop()),
    text: "```\n<think>\n</think>\n```\nand `x</think>`",
  },
  { name: "something else in angle brackets", body: frames(...say("<thin", "g>Hello"), stop()), text: "<thing>Hello" },
  { name: "a lone < at the end", body: frames(...say("1 <"), stop()), text: "1 <" },
];

export const answerShapes: readonly AnswerShape[] = [
  ...openaiStreams,
  ...toolCalls,
  ...anthropicStreams.map((shape): AnswerShape => ({ ...shape, wire: "anthropic" })),
  ...thinks,
];

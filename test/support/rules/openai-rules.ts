import {
  checkNames,
  isObject,
  type Json,
  listOf,
  objectOf,
  Problems,
  parseStrictly,
  saysSomething,
  toolName,
} from "./request-rules.js";

/**
 * What the chat completions API refuses, by its reference (https://platform.openai.com/docs/api-reference/chat/create)
 * and its error messages. Stricter than the API where well-known servers behind the same interface are: the system
 * message comes first, no text is blank, two messages of one side do not follow each other, arguments are a JSON object,
 * and the conversation does not end with the assistant.
 */
export function openAIProblems(bodyText: string): readonly string[] {
  const problems = new Problems();
  const body = parseStrictly(bodyText, problems);
  problems.must(typeof body.model === "string" && body.model !== "", "model", "is needed");
  problems.must(!("max_tokens" in body && "max_completion_tokens" in body), "max_tokens", "one of the two");
  const limit = body.max_tokens ?? body.max_completion_tokens;
  problems.must(Number.isInteger(limit) && Number(limit) >= 1, "max_tokens", "an integer from 1");
  const { temperature } = body;
  problems.must(
    temperature === undefined || (typeof temperature === "number" && temperature >= 0 && temperature <= 2),
    "temperature",
    "0 to 2",
  );
  problems.must(body.stream_options === undefined || body.stream === true, "stream_options", "only with stream");
  checkTools(body, problems);
  checkMessages(listOf(body.messages).map(objectOf), problems);
  return problems.found;
}

function checkTools(body: Json, problems: Problems): void {
  if (body.tools === undefined) return;
  const tools = listOf(body.tools).map(objectOf);
  problems.must(tools.length > 0 && tools.length <= 128, "tools", "1 to 128 tools");
  checkNames(
    tools.map((tool) => objectOf(tool.function).name),
    "tools",
    problems,
  );
  for (const [index, tool] of tools.entries()) {
    problems.must(tool.type === "function", `tools[${index}]`, "type must be function");
    const { parameters } = objectOf(tool.function);
    problems.must(objectOf(parameters).type === "object", `tools[${index}].parameters`, "type must be object");
    problems.must(
      isObject(objectOf(parameters).properties),
      `tools[${index}].parameters`,
      "object schema missing properties",
    );
  }
}

function checkMessages(messages: readonly Json[], problems: Problems): void {
  const talk = messages.filter(({ role }) => role !== "system");
  problems.must(talk.length > 0, "messages", "at least one message is required");
  problems.must(talk[0]?.role === "user", "messages", "the conversation begins with the user");
  problems.must(talk.at(-1)?.role !== "assistant", "messages", "the conversation does not end with the assistant");
  /** Calls of the assistant message that was last, while its results are still to come. */
  let open: Set<unknown> = new Set();
  for (const [index, message] of messages.entries()) {
    const place = `messages[${index}]`;
    const before = messages[index - 1]?.role;
    if (message.role !== "tool") {
      problems.must(open.size === 0, place, `tool_call_ids without a response: ${[...open].join(", ")}`);
      problems.must(before !== message.role, place, "two messages of one side");
      open = new Set();
    }
    switch (message.role) {
      case "system":
        problems.must(index === 0, place, "the system message comes first");
        problems.must(saysSomething(message.content), place, "content must not be blank");
        break;
      case "user":
        checkUser(message.content, place, problems);
        break;
      case "assistant":
        open = checkAssistant(message, place, problems);
        break;
      case "tool":
        problems.must(typeof message.content === "string", place, "content must be text");
        problems.must(
          open.delete(message.tool_call_id),
          place,
          "must be a response to a preceding message with tool_calls, and the only one",
        );
        break;
      default:
        problems.must(false, place, `unknown role ${String(message.role)}`);
    }
  }
  problems.must(open.size === 0, "messages", `tool_call_ids without a response: ${[...open].join(", ")}`);
}

function checkUser(content: unknown, place: string, problems: Problems): void {
  if (typeof content === "string") {
    problems.must(saysSomething(content), place, "content must not be blank");
    return;
  }
  const parts = listOf(content).map(objectOf);
  problems.must(parts.length > 0, place, "content must not be empty");
  for (const part of parts) {
    if (part.type === "text") problems.must(saysSomething(part.text), place, "text must not be blank");
    else if (part.type === "image_url")
      problems.must(
        /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/.test(String(objectOf(part.image_url).url)),
        place,
        "an image as a data address",
      );
    else problems.must(false, place, `unknown part ${String(part.type)}`);
  }
}

/** Returns the ids of its calls. */
function checkAssistant(message: Json, place: string, problems: Problems): Set<unknown> {
  const calls = listOf(message.tool_calls).map(objectOf);
  problems.must(message.tool_calls === undefined || calls.length > 0, place, "tool_calls must not be empty");
  const hasText = saysSomething(message.content);
  problems.must(
    hasText || (calls.length > 0 && (message.content === null || message.content === undefined)),
    place,
    "content must be text, or null beside tool_calls",
  );
  const ids = new Set<unknown>();
  for (const call of calls) {
    const { name, arguments: json } = objectOf(call.function);
    problems.must(call.type === "function", place, "type must be function");
    problems.must(
      typeof call.id === "string" && call.id.length >= 1 && call.id.length <= 40,
      place,
      "an id of 1 to 40 characters",
    );
    problems.must(!ids.has(call.id), place, "duplicate tool_call_id");
    problems.must(typeof name === "string" && toolName.test(name), place, "name must match the pattern");
    checkArguments(json, place, problems);
    ids.add(call.id);
  }
  return ids;
}

function checkArguments(json: unknown, place: string, problems: Problems): void {
  const inner = new Problems();
  try {
    parseStrictly(String(json), inner);
  } catch {
    inner.must(false, "arguments", "no JSON");
  }
  problems.must(inner.found.length === 0, place, `arguments must be a JSON object: ${inner.found.join(", ")}`);
}

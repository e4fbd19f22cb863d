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

const blocksOfUser = ["text", "image", "tool_result"];
const blocksOfAssistant = ["text", "tool_use", "thinking", "redacted_thinking"];
const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/**
 * What the messages API refuses in a request without extended thinking, by its reference
 * (https://docs.claude.com/en/api/messages, …/tool-use/implement-tool-use, …/extended-thinking) and its error messages.
 * Stricter than the API in one thing: roles must alternate, which the API would make so itself.
 */
export function anthropicProblems(bodyText: string): readonly string[] {
  const problems = new Problems();
  const body = parseStrictly(bodyText, problems);
  problems.must(typeof body.model === "string" && body.model !== "", "model", "is needed");
  problems.must(Number.isInteger(body.max_tokens) && Number(body.max_tokens) >= 1, "max_tokens", "an integer from 1");
  const { temperature } = body;
  problems.must(
    temperature === undefined || (typeof temperature === "number" && temperature >= 0 && temperature <= 1),
    "temperature",
    "0 to 1",
  );
  for (const [index, block] of listOf(body.system).entries())
    problems.must(saysSomething(objectOf(block).text), `system[${index}]`, "text blocks must not be blank");
  checkTools(body, problems);
  checkMessages(listOf(body.messages).map(objectOf), problems);
  checkMarks(body, problems);
  return problems.found;
}

function checkTools(body: Json, problems: Problems): void {
  const tools = listOf(body.tools).map(objectOf);
  checkNames(
    tools.map(({ name }) => name),
    "tools",
    problems,
  );
  for (const [index, { input_schema }] of tools.entries()) {
    const schema = objectOf(input_schema);
    const place = `tools[${index}].input_schema`;
    problems.must(schema.type === "object", place, "type must be object");
    problems.must(
      !["anyOf", "oneOf", "allOf"].some((word) => word in schema),
      place,
      "does not support oneOf, allOf, or anyOf at the top level",
    );
  }
  const usesTools = listOf(body.messages)
    .flatMap((message) => listOf(objectOf(message).content))
    .some((block) => ["tool_use", "tool_result"].includes(String(objectOf(block).type)));
  problems.must(!usesTools || tools.length > 0, "tools", "needed where messages hold tool_use or tool_result");
  problems.must(body.tool_choice === undefined || tools.length > 0, "tool_choice", "only with tools");
}

function checkMessages(messages: readonly Json[], problems: Problems): void {
  problems.must(messages.length > 0, "messages", "at least one message is required");
  problems.must(messages[0]?.role === "user", "messages[0]", "the first message must be the user's");
  problems.must(
    messages.at(-1)?.role === "user",
    "messages",
    "a conversation that ends with the assistant is a prefill",
  );
  const ids = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const place = `messages[${index}]`;
    const isUser = message.role === "user";
    problems.must(isUser || message.role === "assistant", place, "role must be user or assistant");
    problems.must(messages[index - 1]?.role !== message.role, place, "roles must alternate");
    const blocks = contentOf(message);
    problems.must(blocks.length > 0, place, "must have non-empty content");
    for (const [at, block] of blocks.entries())
      checkBlock(block, `${place}.content[${at}]`, isUser ? blocksOfUser : blocksOfAssistant, problems);
    if (isUser) {
      checkResults(blocks, contentOf(messages[index - 1] ?? {}), place, problems);
    } else {
      const last = blocks.at(-1)?.type;
      problems.must(
        last !== "thinking" && last !== "redacted_thinking",
        place,
        "the final block in an assistant message cannot be thinking",
      );
      for (const { type, id } of blocks) {
        if (type !== "tool_use") continue;
        problems.must(!ids.has(id), place, "tool_use ids must be unique");
        ids.add(id);
      }
    }
  }
}

function contentOf(message: Json): readonly Json[] {
  return typeof message.content === "string"
    ? [{ type: "text", text: message.content }]
    : listOf(message.content).map(objectOf);
}

function checkBlock(block: Json, place: string, allowed: readonly string[], problems: Problems): void {
  if (!problems.must(allowed.includes(String(block.type)), place, `${String(block.type)} does not belong here`)) return;
  switch (block.type) {
    case "text":
      problems.must(saysSomething(block.text), place, "text content blocks must contain non-whitespace text");
      return;
    case "thinking":
      problems.must(typeof block.thinking === "string", place, "thinking is needed");
      problems.must(typeof block.signature === "string" && block.signature !== "", place, "signature is needed");
      return;
    case "redacted_thinking":
      problems.must(typeof block.data === "string" && block.data !== "", place, "data is needed");
      return;
    case "tool_use":
      problems.must(/^[a-zA-Z0-9_-]+$/.test(String(block.id)), place, "id must match ^[a-zA-Z0-9_-]+$");
      problems.must(typeof block.name === "string" && toolName.test(block.name), place, "name must match the pattern");
      problems.must(isObject(block.input), place, "input must be an object");
      return;
    case "tool_result":
      problems.must(
        block.content === undefined || typeof block.content === "string" || Array.isArray(block.content),
        place,
        "content must be text or blocks",
      );
      if (Array.isArray(block.content)) {
        const inner = block.is_error === true ? ["text"] : ["text", "image"];
        for (const [index, one] of contentOf(block).entries())
          checkBlock(one, `${place}.content[${index}]`, inner, problems);
        problems.must(block.content.length > 0, place, "content must not be empty");
        return;
      }
      problems.must(
        block.is_error !== true || saysSomething(block.content),
        place,
        "content cannot be empty if is_error is true",
      );
      problems.must(block.content === undefined || saysSomething(block.content), place, "content must not be blank");
      return;
    case "image": {
      const source = objectOf(block.source);
      problems.must(imageTypes.includes(String(source.media_type)), place, `media_type must be one of ${imageTypes}`);
      problems.must(/^[A-Za-z0-9+/]+=*$/.test(String(source.data)), place, "data must be base64 and not empty");
      return;
    }
  }
}

/** Each call is answered once, directly in the next message, before anything else that is there. */
function checkResults(blocks: readonly Json[], before: readonly Json[], place: string, problems: Problems): void {
  const wanted = before.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  const given = blocks.filter(({ type }) => type === "tool_result").map((block) => block.tool_use_id);
  for (const id of wanted)
    problems.must(
      given.filter((other) => other === id).length === 1,
      place,
      `tool_use ${String(id)} must have exactly one tool_result immediately after`,
    );
  for (const id of given)
    problems.must(wanted.includes(id), place, `unexpected tool_use_id ${String(id)} in tool_result blocks`);
  problems.must(
    blocks.slice(0, given.length).every(({ type }) => type === "tool_result"),
    place,
    "tool_result blocks must come first",
  );
}

function checkMarks(body: Json, problems: Problems): void {
  const blocks = [
    ...listOf(body.system),
    ...listOf(body.tools),
    ...listOf(body.messages).flatMap((message) => listOf(objectOf(message).content)),
  ].map(objectOf);
  const marked = blocks.filter((block) => block.cache_control !== undefined);
  problems.must(marked.length <= 4, "cache_control", "a maximum of 4 blocks may be marked");
  problems.must(
    marked.every(({ type }) => type !== "thinking" && type !== "redacted_thinking"),
    "cache_control",
    "cannot be set for thinking",
  );
}

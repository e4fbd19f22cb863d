import { createHash } from "node:crypto";
import type { ImagePart, TextPart, ThinkingPart, ToolResultPart, ToolUsePart } from "../../events/content.js";
import { wellFormed } from "../../util/text/well-formed.js";
import type { ModelMessage } from "../provider.js";

/**
 * The same conversation in a form that every API accepts: it begins and ends on the user's side, user and assistant
 * alternate, nothing is blank, no text holds half a surrogate pair, and each tool call has an id of its own and exactly
 * one result directly after it.
 * Deterministic, and what is further back does not depend on what comes later.
 */
export function toValidMessages(messages: readonly ModelMessage[], isGoodId: RegExp): readonly ModelMessage[] {
  const valid: ModelMessage[] = [];
  const takenIds = new Set<string>();
  messages.forEach((message, index) => {
    if (isPlain(message) && valid.at(-1)?.role !== message.role) valid.push(message);
    else if (message.role === "user") addUser(valid, message.content);
    else if (message.role === "assistant")
      addAssistant(valid, message.content, resultsAfter(messages, index), takenIds, isGoodId);
  });
  if (valid[0]?.role !== "user") valid.unshift({ role: "user", content: [note("(the conversation goes on)")] });
  if (valid.at(-1)?.role === "assistant") valid.push({ role: "user", content: [note("(go on)")] });
  return valid;
}

/** Messages that {@link isPlain} has looked at: they come again with each request of their conversation. */
const plain = new WeakSet<ModelMessage>();

/** One text that says something: most messages of a long conversation, which are valid as they are. */
function isPlain(message: ModelMessage): boolean {
  if (plain.has(message)) return true;
  const { role, content } = message;
  const part = content[0];
  if (role === "tool" || content.length !== 1 || part?.type !== "text") return false;
  if (isBlank(part.text) || !part.text.isWellFormed()) return false;
  plain.add(message);
  return true;
}

function addUser(valid: ModelMessage[], parts: readonly (TextPart | ImagePart)[]): void {
  const content = parts.filter((part) => part.type !== "text" || !isBlank(part.text)).map(wellFormed);
  if (content.length === 0) content.push(note("(empty message)"));
  const last = valid.at(-1);
  if (last?.role === "user") valid[valid.length - 1] = { role: "user", content: [...last.content, ...content] };
  else valid.push({ role: "user", content });
}

function addAssistant(
  valid: ModelMessage[],
  parts: readonly (TextPart | ThinkingPart | ToolUsePart)[],
  results: readonly ToolResultPart[],
  takenIds: Set<string>,
  isGoodId: RegExp,
): void {
  const left = [...results];
  const paired: ToolResultPart[] = [];
  const content = parts
    .filter((part) => part.type !== "text" || !isBlank(part.text))
    .map((part) => {
      if (part.type === "thinking") return unchanged(part);
      if (part.type === "text") return wellFormed(part);
      const id = ownId(part.id, takenIds, isGoodId);
      const at = left.findIndex((result) => result.tool_call_id === part.id);
      const result = at === -1 ? undefined : left.splice(at, 1)[0];
      paired.push({
        type: "tool_result",
        tool_call_id: id,
        content:
          result === undefined
            ? "The call was interrupted; it is unknown whether it took effect."
            : isBlank(result.content)
              ? "(no output)"
              : wellFormed(result.content),
        is_error: result?.is_error ?? true,
        ...(result?.images === undefined ? {} : { images: result.images }),
      });
      return { ...part, id, name: goodName(part.name), input: wellFormed(part.input) };
    });
  if (content.every((part) => part.type === "thinking")) return;
  const last = valid.at(-1);
  if (last?.role === "assistant") valid[valid.length - 1] = oneAnswer([...last.content, ...content]);
  else valid.push({ role: "assistant", content });
  if (paired.length > 0) valid.push({ role: "tool", content: paired });
}

/** Two answers as one. What proves the thinking of one of them proves nothing here, and is refused. */
function oneAnswer(content: readonly (TextPart | ThinkingPart | ToolUsePart)[]): ModelMessage {
  return { role: "assistant", content: content.filter((part) => part.type !== "thinking") };
}

/** Thinking goes back exactly as it came, or without its proof. */
function unchanged(part: ThinkingPart): ThinkingPart {
  return part.text.isWellFormed() ? part : { type: "thinking", text: wellFormed(part.text) };
}

function resultsAfter(messages: readonly ModelMessage[], index: number): readonly ToolResultPart[] {
  const results: ToolResultPart[] = [];
  for (let next = index + 1; ; next++) {
    const message = messages[next];
    if (message?.role !== "tool") break;
    results.push(...message.content);
  }
  return results;
}

/** Some servers repeat ids from answer to answer, or use characters that another API refuses. */
function ownId(id: string, takenIds: Set<string>, isGoodId: RegExp): string {
  let own = isGoodId.test(id) ? id : hashedId(id);
  for (let repeat = 1; takenIds.has(own); repeat += 1) own = hashedId(`${id}#${repeat}`);
  takenIds.add(own);
  return own;
}

function hashedId(text: string): string {
  return `call_${createHash("sha256").update(text).digest("hex").slice(0, 20)}`;
}

/** Models make up names like `functions.read_file`, which no API takes back. */
function goodName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

function note(text: string): TextPart {
  return { type: "text", text };
}

/** What each server means by whitespace differs: whatever cannot be seen counts here. */
function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Cf}\p{Z}]/u.test(text);
}

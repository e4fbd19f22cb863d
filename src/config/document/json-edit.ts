import { isSame } from "../settings/hide.js";
import { isObject } from "../substitute.js";
import { type JsonMember, type JsonNode, type JsonTree, readJson } from "./json-walk.js";

type Path = readonly (string | number)[];
type Span = { readonly start: number; readonly end: number };

/** Something else than an object is in the way of a change. */
export class NotAnObject extends Error {
  readonly path: Path;

  constructor(path: Path) {
    super(`${path.join(".")} is not an object`);
    this.path = path;
  }
}

/**
 * A text of JSON with one value changed, or taken away where there is no `value`. Every comment stays, and every other
 * value as it was written.
 *
 * @throws {NotAnObject}
 */
export function withValue(text: string, path: Path, value: unknown): string {
  const tree = treeOf(text);
  let node = tree.root;
  for (const [depth, key] of path.entries()) {
    const member = memberOf(node, key);
    if (member === undefined) {
      if (node.kind !== (typeof key === "number" ? "array" : "object")) throw new NotAnObject(path.slice(0, depth));
      return value === undefined ? text : inserted(text, tree, node, key, nested(path.slice(depth + 1), value));
    }
    const isLast = depth === path.length - 1;
    if (isLast && value === undefined) return withoutMembers(text, tree, node, key);
    if (!isLast && !isContainer(member.node)) {
      if (member.node.value !== null) throw new NotAnObject(path.slice(0, depth + 1));
      if (value === undefined) return text;
      return replaced(text, tree, member.node, nested(path.slice(depth + 1), value));
    }
    ({ node } = member);
  }
  return changed(text, tree, node, path, value);
}

/** As little as possible is written again, because comments are beside what stays. */
function changed(text: string, tree: JsonTree, node: JsonNode, path: Path, value: unknown): string {
  if (isSame(node.value, value)) return text;
  if (node.kind === "object" && isObject(value)) {
    const gone = Object.keys(Object(node.value)).filter((key) => !Object.hasOwn(value, key));
    const left = gone.reduce((now, key) => withValue(now, [...path, key], undefined), text);
    return Object.entries(value).reduce((now, [key, entry]) => withValue(now, [...path, key], entry), left);
  }
  if (node.kind === "array" && Array.isArray(value)) {
    let now = text;
    for (let at = node.members.length - 1; at >= value.length; at--) now = withValue(now, [...path, at], undefined);
    return value.reduce<string>((before, entry, at) => withValue(before, [...path, at], entry ?? null), now);
  }
  return replaced(text, tree, node, value);
}

function replaced(text: string, tree: JsonTree, node: JsonNode, value: unknown): string {
  const layout = layoutOf(text, tree.root);
  const written = layout.write(value, indentAt(text, node.start));
  return text.slice(0, node.start) + keptComments(text, tree, node) + written + text.slice(node.end);
}

function inserted(text: string, tree: JsonTree, node: JsonNode, key: string | number, value: unknown): string {
  const layout = layoutOf(text, tree.root);
  const name = typeof key === "number" ? "" : `${JSON.stringify(key)}: `;
  const [first] = node.members;
  const last = node.members.at(-1);
  if (first === undefined || last === undefined)
    return intoEmpty(text, node, layout, (indent) => name + layout.write(value, indent));
  const hasLines = text.slice(node.start, first.start).includes("\n");
  const comma = last.comma === undefined ? "" : ",";
  const valueEnd = last.node.end;
  if (!hasLines) {
    // With a comma that is there already, behind it.
    const at = last.comma === undefined ? valueEnd : last.comma + 1;
    const before = last.comma === undefined ? ", " : " ";
    return text.slice(0, at) + before + name + layout.write(value, indentAt(text, node.start)) + comma + text.slice(at);
  }
  const indent = indentAt(text, first.start);
  const at = endOfLine(text, tree, last.comma === undefined ? valueEnd : last.comma + 1);
  const between = last.comma === undefined ? `,${text.slice(valueEnd, at)}` : text.slice(valueEnd, at);
  const member = layout.eol + indent + name + layout.write(value, indent) + comma;
  return text.slice(0, valueEnd) + between + member + text.slice(at);
}

function intoEmpty(text: string, node: JsonNode, layout: Layout, member: (indent: string) => string): string {
  const outer = indentAt(text, node.start);
  const inner = outer + layout.unit;
  // Comments may be there.
  const inside = text.slice(node.start + 1, node.end - 1).trimEnd();
  const close = text.slice(node.end - 1, node.end);
  const open = text.slice(0, node.start + 1);
  return open + inside + layout.eol + inner + member(inner) + layout.eol + outer + close + text.slice(node.end);
}

/** Where a name is twice, none of them may be left. */
function withoutMembers(text: string, tree: JsonTree, node: JsonNode, key: string | number): string {
  const index = typeof key === "number" ? key : node.members.findLastIndex((member) => member.key === key);
  const member = node.members[index];
  if (member === undefined) return text;
  const comma = member.comma ?? node.members[index - 1]?.comma;
  const spans: Span[] = [{ start: member.start, end: member.node.end }];
  if (comma !== undefined) spans.push({ start: comma, end: comma + 1 });
  const left = spans.sort((a, b) => b.start - a.start).reduce((now, span) => cut(now, tree, span), text);
  const path = pathOf(tree.root, node);
  return typeof key === "number" ? left : withValue(left, [...path, key], undefined);
}

function cut(text: string, tree: JsonTree, span: Span): string {
  const kept = keptComments(text, tree, span);
  const before = text.slice(0, span.start);
  const after = text.slice(span.end);
  const indent = /(?:^|\n)[^\S\n]*$/.exec(before);
  const rest = /^[^\S\n]*\n/.exec(after);
  if (kept !== "") return before + (rest === null ? kept : kept.slice(0, -1)) + after;
  // A line with nothing else goes as a whole.
  if (indent !== null && rest !== null && indent[0].startsWith("\n"))
    return before.slice(0, indent.index + 1) + after.slice(rest[0].length);
  return /[\s{[]$/.test(before) ? before + after.replace(/^[^\S\n]+/, "") : before + after;
}

/** The comments in what goes, which stay. */
function keptComments(text: string, { comments }: JsonTree, { start, end }: Span): string {
  return comments
    .filter((comment) => comment.start >= start && comment.end <= end)
    .map((comment) => text.slice(comment.start, comment.end))
    .map((comment) => (comment.startsWith("//") ? `${comment}\n` : `${comment} `))
    .join("");
}

/** Behind the comments that are beside a value, so that they stay with it. */
function endOfLine(text: string, { comments }: JsonTree, from: number): number {
  let at = from;
  for (;;) {
    const spaces = /[^\S\n\r]*/y;
    spaces.lastIndex = at;
    spaces.exec(text);
    const comment = comments.find(({ start }) => start === spaces.lastIndex);
    if (comment === undefined) return at;
    at = comment.end;
    if (text.slice(comment.start, comment.end).includes("\n")) return at;
  }
}

interface Layout {
  readonly unit: string;
  readonly eol: string;
  write(value: unknown, indent: string): string;
}

function layoutOf(text: string, root: JsonNode): Layout {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const [first] = root.members;
  const found = first === undefined ? "" : indentAt(text, first.start);
  const isOwnLine = first !== undefined && text.slice(root.start, first.start).includes("\n");
  const unit = isOwnLine && found !== "" ? found : "  ";
  return {
    unit,
    eol,
    write: (value, indent) => (JSON.stringify(value, undefined, unit) ?? "null").replaceAll("\n", eol + indent),
  };
}

/** What the line of an offset begins with. */
function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[^\S\n\r]*/.exec(text.slice(lineStart, offset))?.[0] ?? "";
}

function treeOf(text: string): JsonTree {
  const tree = readJson(text);
  if ("fault" in tree) throw new Error(`The text is not JSON at line ${tree.fault.line}: ${tree.fault.message}`);
  return tree;
}

function isContainer(node: JsonNode): boolean {
  return node.kind === "object" || node.kind === "array";
}

function memberOf(node: JsonNode, key: string | number): JsonMember | undefined {
  if (typeof key === "number") return node.kind === "array" ? node.members[key] : undefined;
  return node.kind === "object" ? node.members.findLast((member) => member.key === key) : undefined;
}

function pathOf(root: JsonNode, wanted: JsonNode): Path {
  for (const [at, { key, node }] of root.members.entries()) {
    if (node.start > wanted.start || node.end < wanted.end) continue;
    return [root.kind === "array" ? at : key, ...pathOf(node, wanted)];
  }
  return [];
}

function nested(path: Path, value: unknown): unknown {
  return path.reduceRight((inner: unknown, key) => ({ [key]: inner }), value);
}

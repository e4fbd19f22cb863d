import { extname } from "node:path";
import { readJson } from "../document/json-walk.js";
import { readText } from "../read-text.js";
import { isObject } from "../substitute.js";
import { inside } from "./hide.js";

/**
 * What has to go with a key that is taken out of a config file: itself, or the outermost object that has nothing but it. An
 * object stays where a comment is in it.
 */
export async function outermostEmptied(file: string, path: readonly string[]): Promise<readonly string[]> {
  const text = await readText(file);
  const hasOthers = [".yaml", ".yml"].includes(extname(file).toLowerCase()) ? await yamlLook(text) : jsonLook(text);
  let depth = path.length - 1;
  while (depth > 0 && !hasOthers(path.slice(0, depth))) depth -= 1;
  return path.slice(0, depth + 1);
}

/** True for an object that has more than one key, or a comment. */
type Look = (path: readonly string[]) => boolean;

function jsonLook(text: string): Look {
  const tree = readJson(text);
  if ("fault" in tree) return () => true;
  return (path) => {
    let node = tree.root;
    for (const key of path) {
      const next = node.members.findLast((member) => member.key === key);
      if (next === undefined) return true;
      ({ node } = next);
    }
    const { start, end, value } = node;
    const isCommented = tree.comments.some((comment) => comment.start >= start && comment.end <= end);
    return isCommented || hasMore(value);
  };
}

async function yamlLook(text: string): Promise<Look> {
  const { isMap, isNode, isScalar, parseDocument, visit } = await import("yaml");
  const document = parseDocument(text);
  const root: unknown = document.toJS();
  return (path) => {
    const name = path.at(-1);
    const around = document.getIn(path.slice(0, -1), true);
    const pair = isMap(around)
      ? around.items.find(({ key }) => (isScalar(key) ? String(key.value) : key) === name)
      : undefined;
    if (!isMap(around) || pair === undefined || hasMore(path.reduce<unknown>(inside, root))) return true;
    // What is above a first key belongs to the whole in the library's eyes.
    let isCommented = around.items[0] === pair && Boolean(around.commentBefore);
    const note = (_key: unknown, node: unknown): void => {
      if (isNode(node) && (node.comment || node.commentBefore)) isCommented = true;
    };
    for (const part of [pair.key, pair.value]) if (isNode(part)) visit(part, { Node: note });
    return isCommented;
  };
}

function hasMore(value: unknown): boolean {
  return !isObject(value) || Object.keys(value).length > 1;
}

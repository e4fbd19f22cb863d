import { type Document, isCollection, isNode, isScalar, parseDocument, visit } from "yaml";
import type { ConfigEdit } from "../edit.js";
import type { Fault } from "../faults/fault.js";
import { yamlFault } from "../faults/yaml.js";

/**
 * A text of YAML with these changes; comments and everything else stay.
 *
 * @throws {Error} what cannot be changed there, as half a sentence
 */
export function changedYaml(text: string, edits: readonly ConfigEdit[]): { readonly text: string } | { fault: Fault } {
  const document = parseDocument(text);
  const fault = yamlFault(text, document);
  if (fault !== undefined) return { fault };
  for (const { path, value } of edits) {
    const name = nameElsewhere(document, path);
    if (name !== undefined) throw new Error(`another place of the file uses it too, as *${name}`);
    if (value === undefined) document.deleteIn(path);
    else document.setIn(path, value);
  }
  return { text: document.toString() };
}

/** The name by which another place of the file means what is at a path, what it is in, or what is in it. */
function nameElsewhere(document: Document, path: readonly string[]): string | undefined {
  const way = [document.contents, ...path.map((_, index) => document.getIn(path.slice(0, index + 1), true))];
  const target = way.length > path.length ? way[path.length] : undefined;
  const own = new Set<unknown>();
  if (isNode(target)) visit(target, { Node: (_key, node) => void own.add(node) });
  const anchors = new Set([...way, ...own].flatMap((node) => anchorOf(node) ?? []));
  let found: string | undefined;
  visit(document, {
    Alias(_key, alias) {
      if (anchors.has(alias.source) && !own.has(alias)) found ??= alias.source;
    },
  });
  return found;
}

function anchorOf(node: unknown): string | undefined {
  return isScalar(node) || isCollection(node) ? node.anchor : undefined;
}

// docs/api.md and docs/api/: what the package exports, as its types have it, with their docstrings. One page per type.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
export const apiPage = "docs/api.md";
/** The folder of the pages of single types. */
export const apiFolder = "docs/api";

interface Entry {
  readonly title: string;
  readonly folder: string;
  readonly file: string;
}

const entries: readonly Entry[] = [
  { title: "`maxclaw`", folder: "maxclaw", file: "dist/src/index.d.ts" },
  { title: "`maxclaw/client`", folder: "client", file: "dist/src/client/client.d.ts" },
];

/** The pages as the compiled types have them now, by path. */
export function apiPages(): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  const lists = entries.map((entry) => {
    const items = typesOf(entry).map(({ name, doc, code, links }) => {
      const page = join(apiFolder, entry.folder, `${name}.md`);
      const isKnown = [...pages.keys()].some((known) => known.toLowerCase() === page.toLowerCase());
      if (isKnown) throw new Error(`${page} differs from another page only by upper and lower case`);
      pages.set(page, pageOf(entry, name, doc, code, links));
      return `- [${name}](api/${entry.folder}/${name}.md)${doc === "" ? "" : `: ${firstSentence(doc)}`}`;
    });
    return `## ${entry.title}\n\n${items.join("\n")}`;
  });
  const head =
    "# API\n\nEach type that the package exports, from the docstrings in its source (`node dist/scripts/api-docs.js` writes these pages). " +
    "How to use it: [library.md](library.md), [client.md](client.md), [extensions.md](extensions.md).";
  pages.set(apiPage, `${head}\n\n${lists.join("\n\n")}\n`);
  return pages;
}

interface ApiType {
  readonly name: string;
  readonly doc: string;
  readonly code: string;
  /** Other types of the same entry that the code names. */
  readonly links: readonly string[];
}

function typesOf({ file }: Entry): readonly ApiType[] {
  const found = exportsOf(file).map(({ name, from }) => ({ name, ...declarationIn(name, from) }));
  const names = new Set(found.map(({ name }) => name));
  return found.map(({ name, doc, code }) => {
    const bare = code.replace(/\/\*\*[\s\S]*?\*\//g, "").replace(/"[^"]*"/g, "");
    const links = new Set([...bare.matchAll(/\b[A-Za-z]\w+/g)].map(([word]) => word).filter((word) => names.has(word)));
    links.delete(name);
    return { name, doc, code, links: [...links].sort() };
  });
}

function pageOf(entry: Entry, name: string, doc: string, code: string, links: readonly string[]): string {
  const parts = [
    `# ${name}`,
    `Part of [${entry.title}](../../api.md#${entry.folder === "client" ? "maxclawclient" : "maxclaw"}).`,
  ];
  if (doc !== "") parts.push(doc);
  parts.push(`\`\`\`ts\n${code}\n\`\`\``);
  if (links.length > 0) parts.push(`Names: ${links.map((link) => `[${link}](${link}.md)`).join(", ")}.`);
  return `${parts.join("\n\n")}\n`;
}

/** The beginning of a docstring, for the list. */
function firstSentence(doc: string): string {
  const paragraph = (doc.split(/\n\n|\n(?=Throws )/)[0] ?? "").replaceAll("\n", " ");
  return /^.*?[.:](?= [A-Z`]|$)/.exec(paragraph)?.[0].replace(/:$/, ".") ?? paragraph;
}

interface Exported {
  readonly name: string;
  readonly from: string;
}

/** What a file passes on from others, or declares itself, sorted by name. */
function exportsOf(file: string): readonly Exported[] {
  const text = read(file);
  const passedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "(.+?)\.js";$/gms)].flatMap(
    ([, names = "", specifier = ""]) =>
      names
        .split(",")
        .map((name) => name.replace(/^\s*type\s/, "").trim())
        .filter((name) => name !== "")
        .map((name) => ({ name, from: `${join(dirname(file), specifier)}.d.ts` })),
  );
  const declared = [
    ...text.matchAll(/^export (?:declare )?(?:abstract )?(?:class|interface|type|function|const) (\w+)/gm),
  ].map(([, name = ""]) => ({ name, from: file }));
  return [...passedOn, ...declared].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The docstring as text, and the declaration as code. */
function declarationIn(name: string, file: string): { readonly doc: string; readonly code: string } {
  const lines = read(file).split("\n");
  const begins = new RegExp(`^export (?:declare )?(?:abstract )?(?:class|interface|type|function|const) ${name}\\b`);
  const first = lines.findIndex((line) => begins.test(line));
  if (first === -1) {
    const again = exportsOf(file).find((one) => one.name === name && one.from !== file);
    if (again === undefined) throw new Error(`${file} exports no ${name}`);
    return declarationIn(name, again.from);
  }
  const rest = lines.slice(first);
  const isBlock = /^export (?:declare )?(?:abstract )?(?:class|interface)/.test(rest[0] ?? "");
  const last = rest.findIndex((line, at) => (isBlock ? /\}$/ : /;$/).test(line) && isClosed(rest.slice(0, at + 1)));
  const code = rest.slice(0, last + 1).filter((line) => !/^ {4}(?:private |#private)/.test(line));
  const shown = code
    .join("\n")
    .trim()
    .replace(/^export (?:declare )?/, "");
  return { doc: docAbove(lines, first), code: shown };
}

/** No bracket is open after these lines. */
function isClosed(lines: readonly string[]): boolean {
  const text = lines.filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line)).join("\n");
  const count = (brackets: RegExp): number => text.match(brackets)?.length ?? 0;
  return count(/[{([]/g) === count(/[})\]]/g);
}

function docAbove(lines: readonly string[], at: number): string {
  let first = at - 1;
  if (!(lines[first] ?? "").endsWith("*/")) return "";
  while (first > 0 && !(lines[first] ?? "").startsWith("/**")) first--;
  return lines
    .slice(first, at)
    .map((line) => line.replace(/^\s*\/\*\*\s?|\s*\*\/$|^\s*\* ?/g, "").replace(/\s*\*\/$/, ""))
    .join("\n")
    .replace(/\{@link (\S+?)\}/g, "`$1`")
    .replace(/^@throws /gm, "Throws ")
    .trim();
}

function read(file: string): string {
  const path = join(root, file);
  if (!existsSync(path)) throw new Error(`${file} does not exist`);
  return readFileSync(path, "utf8");
}

function writePages(): void {
  rmSync(join(root, apiFolder), { recursive: true, force: true });
  for (const [page, text] of apiPages()) {
    mkdirSync(dirname(join(root, page)), { recursive: true });
    writeFileSync(join(root, page), text);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writePages();

// docs/api.md: what the package exports, as its types have it, with their docstrings.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
export const apiPage = "docs/api.md";

interface Entry {
  readonly title: string;
  readonly file: string;
}

const entries: readonly Entry[] = [
  { title: "`maxclaw`", file: "dist/src/index.d.ts" },
  { title: "`maxclaw/client`", file: "dist/src/client/client.d.ts" },
];

/** The page as the compiled types have it now. */
export function apiText(): string {
  const parts = entries.map(({ title, file }) => {
    const names = exportsOf(file).map(({ name, from }) => `### ${name}\n\n${declarationIn(name, from)}`);
    return `## ${title}\n\n${names.join("\n\n")}`;
  });
  const head =
    "# API\n\nMade from the docstrings by `node dist/scripts/api-docs.js`. How to use it: [library.md](library.md), [client.md](client.md).";
  return `${head}\n\n${parts.join("\n\n")}\n`;
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
function declarationIn(name: string, file: string): string {
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
  const doc = docAbove(lines, first);
  const shown = code
    .join("\n")
    .trim()
    .replace(/^export (?:declare )?/, "");
  return `${doc === "" ? "" : `${doc}\n\n`}\`\`\`ts\n${shown}\n\`\`\``;
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

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(join(root, apiPage), apiText());

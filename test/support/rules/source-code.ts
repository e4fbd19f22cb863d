import { readdirSync, readFileSync } from "node:fs";
import { join, posix, relative } from "node:path";

/** `type`: erased when compiled. `static`: loaded with the file. `dynamic`: loaded when the line is reached. */
export type ImportKind = "type" | "static" | "dynamic";

export interface Import {
  readonly kind: ImportKind;
  /** As written: `./x.js`, `node:fs`, `zod` … */
  readonly specifier: string;
}

export interface SourceFile {
  /** From `src/`, e.g. `events/event.ts`. */
  readonly path: string;
  /** Without comments; line numbers are kept. */
  readonly code: string;
  readonly lines: number;
  readonly imports: readonly Import[];
}

const stringsAndComments =
  /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|(?<=[=(,:!&|?{;]\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const staticImport = /^(?:import|export)\s+(type\s+)?(?:[\w*\s{},$]+?\s+from\s+)?["']([^"'\n]+)["']/gm;
const dynamicImport = /\bimport\s*\(\s*(?:(["'`])([^"'`\n]+)\1)?/g;

/** The code with its comments blanked; strings and regular expressions stay as they are. */
export function withoutComments(code: string): string {
  return code.replace(stringsAndComments, (match, kept: string | undefined) => kept ?? match.replace(/[^\n]/g, " "));
}

/** What a file imports. A dynamic import of anything but a plain string has the specifier `?`. */
export function importsOf(code: string): readonly Import[] {
  const statics = [...code.matchAll(staticImport)].map(([, type, specifier = "?"]): Import => {
    return { kind: type === undefined ? "static" : "type", specifier };
  });
  const dynamics = [...code.matchAll(dynamicImport)].map(([, , specifier = "?"]): Import => {
    return { kind: "dynamic", specifier };
  });
  return [...statics, ...dynamics];
}

/** The `src/` path that a relative specifier leads to; undefined for packages and `node:` modules. */
export function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return posix.normalize(posix.join(posix.dirname(file), specifier)).replace(/\.js$/, ".ts");
}

/** The package that a specifier names; undefined for relative ones and `node:` modules. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith(".") || specifier.startsWith("node:")) return undefined;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** True when all that a file does is to pass on what others export. */
export function isBarrel(code: string): boolean {
  const reExports = /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s+from\s+["'][^"'\n]+["'];?/gm;
  const rest = code.replace(reExports, "");
  return rest !== code && rest.trim() === "";
}

/** The fields of each interface, and of each object in a type, by the name of the declaration that it is in. */
export function fieldCountsIn(code: string): readonly { readonly name: string; readonly fields: number }[] {
  const text = withoutComments(code).replace(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`]*`/g, '""');
  return [...text.matchAll(/^(?:export )?(?:interface|type) (\w+)/gm)].flatMap(({ 0: head, 1: name = "", index }) => {
    const isType = /\btype \w+$/.test(head);
    const counts: number[] = [];
    const open: { fields: number; isEmpty: boolean }[] = [];
    for (const sign of text.slice(index + head.length)) {
      const inner = open.at(-1);
      if (sign === "{") {
        if (inner !== undefined) inner.isEmpty = false;
        open.push({ fields: 0, isEmpty: true });
      } else if (inner === undefined) {
        if (sign === ";") break;
      } else if (sign === ";" || sign === "}") {
        // The last field of a line has no semicolon.
        if (!inner.isEmpty) inner.fields += 1;
        inner.isEmpty = true;
        if (sign === "}") counts.push(open.pop()?.fields ?? 0);
        if (open.length === 0 && !isType) break;
      } else if (sign.trim() !== "") inner.isEmpty = false;
    }
    return counts.map((fields) => ({ name, fields }));
  });
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

export function readSources(folder: string): readonly SourceFile[] {
  return filesBelow(folder)
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => {
      const raw = readFileSync(file, "utf8");
      const code = withoutComments(raw);
      const path = relative(folder, file).replaceAll("\\", "/");
      return { path, code, lines: raw.trimEnd().split("\n").length, imports: importsOf(code) };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Import cycles, each as the files in it, once. Dynamic imports do not count, types do. */
export function cyclesIn(files: readonly Pick<SourceFile, "path" | "imports">[]): readonly string[] {
  const edges = new Map(
    files.map((file) => [
      file.path,
      file.imports.flatMap((one) => (one.kind === "dynamic" ? [] : (targetOf(file.path, one.specifier) ?? []))),
    ]),
  );
  const cycles = new Set<string>();
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.add([...trail.slice(start), path].join(" → "));
    if (start !== -1 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return [...cycles];
}

/** The packages that are loaded as soon as `entry` is, each with the file that asks for it. */
export function loadedWith(entry: string, files: readonly SourceFile[]): ReadonlyMap<string, string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const packages = new Map<string, string>();
  const seen = new Set<string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const file = byPath.get(path);
    if (file === undefined || seen.has(path)) continue;
    seen.add(path);
    for (const { kind, specifier } of file.imports) {
      if (kind !== "static") continue;
      const name = packageOf(specifier);
      if (name !== undefined) packages.set(name, path);
      const target = targetOf(path, specifier);
      if (target !== undefined) waiting.push(target);
    }
  }
  return packages;
}

import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, join } from "node:path";
import { decode, encode } from "@jridgewell/sourcemap-codec";

/** What libraries try to load and can do without. */
export const tried = ["zlib-sync", "bufferutil", "utf-8-validate", "kerberos"];

/** Scripts of threads, which the program names as `new URL("./worker.js", import.meta.url)`, become files of the bundle. */
export function filesByUrl(compiled) {
  const named = /new URL\((["'])(\.[^"']+\.js)\1, import\.meta\.url\)/g;
  return {
    name: "files-by-url",
    transform(code, id) {
      if (!id.startsWith(compiled) || !named.test(code)) return null;
      const changed = code.replace(named, (_all, _quote, path) => {
        const reference = this.emitFile({ type: "chunk", id: join(dirname(id), path) });
        return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
      });
      // No line is moved.
      return { code: changed, map: null };
    },
  };
}

/** For Node, what is imported by name when it is needed; everything else is a script of the bundle. */
export function importsOfNode(script) {
  const name = basename(script);
  return {
    name: "imports-of-node",
    resolveId(source) {
      return source === script ? { id: `./${name}`, external: true } : null;
    },
    transform(code, id) {
      if (!/\bimport\s*\(/.test(code)) return null;
      const places = importsIn(this.parse(code)).filter(({ source }) => isOfNode(source));
      if (places.length === 0) return null;
      if (/\bmodule\.exports\b/.test(code)) throw new Error(`${id} is CommonJS and imports what is not in the bundle`);
      // As long as `import`, and after everything else: no place in the file is moved.
      const changed = places.reduce((text, { start }) => `${text.slice(0, start)}$toEsm${text.slice(start + 6)}`, code);
      return { code: `${changed}\nimport { toEsm as $toEsm } from ${JSON.stringify(script)};\n`, map: null };
    },
    renderChunk(code, { fileName }) {
      const [left] = importsIn(this.parse(code));
      if (left)
        throw new Error(`${fileName}: ${code.slice(left.start, left.end)} has to be in the bundle, or be for Node`);
      return null;
    },
  };
}

/**
 * Node 20 gives each object that `{ ...one, more }` makes a hidden class of its own: ten times the work, 300 bytes that only a collection of
 * the whole heap frees, and places that read such objects become slow. Not where something else comes first.
 */
export function sharedShapes() {
  return {
    name: "shared-shapes",
    // Not earlier: what changes nothing is left out of each module.
    renderChunk(code) {
      const objects = nodesOf(this.parse(code), "ObjectExpression");
      const firsts = objects.flatMap(({ properties: [first, second] }) =>
        first?.type === "SpreadElement" && second !== undefined ? [first.start] : [],
      );
      if (firsts.length === 0) return null;
      const ends = [...firsts.sort((a, b) => a - b), code.length];
      // No line is moved.
      const parts = ends.map((end, at) => code.slice(at === 0 ? 0 : ends[at - 1], end));
      return { code: parts.join("...void 0, "), map: null };
    },
  };
}

const isOfNode = (source) => source.type !== "Literal" || isBuiltin(source.value) || tried.includes(source.value);

/** All `import(…)` in a program. */
const importsIn = (program) => nodesOf(program, "ImportExpression");

function nodesOf(program, type) {
  const found = [];
  const waiting = [program];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.type === type) found.push(node);
    for (const value of Object.values(node))
      for (const one of Array.isArray(value) ? value : [value])
        if (typeof one === "object" && one !== null && typeof one.type === "string") waiting.push(one);
  }
  return found;
}

/** Libraries that ask where they are, and why that is fine in a bundle. Any other one may look for files that are not there. */
const knownPlaces = {
  pino: "only for writing in another thread, which we do not do",
  "thread-stream": "the same",
  "@discordjs/ws": "only for shards in other threads, which we do not have",
  undici: "only to leave itself out of stack traces",
};

export function ownPlaces() {
  return {
    name: "own-places",
    transform(code, id) {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];
      if (name === undefined || Object.hasOwn(knownPlaces, name)) return null;
      const said = code.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
      const found = /\b__dirname\b|\b__filename\b|\brequire\.resolve\b|\bimport\.meta\b|\bcreateRequire\(/.exec(
        said,
      )?.[0];
      if (found === undefined) return null;
      throw new Error(
        `${id} uses ${found}: look whether it finds its files in a bundle, then name it in scripts/bundle`,
      );
    },
  };
}

/** zod's messages in the one language that is used. */
export function oneLanguage(file) {
  return {
    name: "one-language",
    resolveId(source, importer = "") {
      return source.endsWith("/locales/index.js") && importer.includes("node_modules/zod/") ? file : null;
    },
  };
}

/** The compiler's maps lead on to the sources. Of libraries there are none: their own names are in the bundle. */
export function ourMaps(compiled) {
  return {
    name: "our-maps",
    load(id) {
      if (!id.startsWith(compiled) || !existsSync(`${id}.map`)) return null;
      return { code: readFileSync(id, "utf8"), map: JSON.parse(readFileSync(`${id}.map`, "utf8")) };
    },
    generateBundle(_options, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        if (!name.endsWith(".map")) continue;
        const map = withoutLibraries(JSON.parse(file.source));
        if (map !== undefined) file.source = JSON.stringify(map);
        else delete bundle[name];
      }
    },
  };
}

/** Undefined where nothing of ours is in it. */
function withoutLibraries({ sourcesContent: _content, names: _names, ...map }) {
  const kept = map.sources.map((source) => !source.includes("node_modules"));
  if (!kept.includes(true)) return undefined;
  const sources = map.sources.map((source, at) => (kept[at] ? source : ""));
  const lines = decode(map.mappings).map((segments) => firstOfEachLine(segments, kept));
  return { ...map, names: [], sources, mappings: encode(lines) };
}

/** Stack traces name lines: of our own sources one place for each, of libraries only where one begins. */
function firstOfEachLine(segments, kept) {
  let last = "";
  return segments.flatMap(([column, source, line, sourceColumn]) => {
    const isOurs = source !== undefined && kept[source];
    const place = isOurs ? `${source}:${line}` : "";
    if (place === last) return [];
    last = place;
    return [isOurs ? [column, source, line, sourceColumn] : [column]];
  });
}

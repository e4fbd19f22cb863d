import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

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
  return { ...map, names: [], sources: map.sources.map((source, at) => (kept[at] ? source : "")) };
}

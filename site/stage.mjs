// Copies the pages of the repository to where VitePress reads them: README.md as the first page, docs/ beside it, and
// each other file that a page links to as a page that shows it.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, extname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { anchorOf, groupsOf, withLinks } from "./pages.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const staged = join(root, "site", ".pages");

const read = (file) => readFileSync(join(root, file), "utf8");

function write(file, text) {
  mkdirSync(dirname(join(staged, file)), { recursive: true });
  writeFileSync(join(staged, file), text);
}

/** Where a file of the repository is on the site. */
function placeOf(file) {
  if (file === "README.md") return "index.md";
  if (file.startsWith("docs/")) return file.slice("docs/".length);
  return file.endsWith(".md") ? `project/${file}` : `files/${file.replace(/^\./, "")}.md`;
}

const languages = { ".json": "json", ".mjs": "js", ".service": "ini", ".sh": "sh" };

/** A file that is not a page, shown on one. */
function shown(file) {
  const language = languages[extname(file)] ?? (file === "Dockerfile" ? "docker" : "txt");
  return `# ${file}\n\n\`\`\`\`${language}\n${read(file).trimEnd()}\n\`\`\`\`\n`;
}

/** Stages one file, and whatever it links to; `done` holds what is staged already. */
function stage(file, done) {
  if (done.has(file)) return;
  done.add(file);
  const place = placeOf(file);
  if (/\.generated\.|\.(?:png|svg|jpg)$/.test(file)) {
    const target = join(staged, file.includes(".generated.") ? `public/${place}` : place);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, file), target);
    return;
  }
  if (!file.endsWith(".md")) return write(place, shown(file));
  const text = withLinks(read(file), (target) => {
    if (/^(?:[a-z]+:|#)/i.test(target)) return target;
    const [path = "", anchor] = target.split("#");
    const found = posix.join(posix.dirname(file), path);
    if (!existsSync(join(root, found)) || statSync(join(root, found)).isDirectory())
      throw new Error(`${file} links to ${target}, but there is no file ${found}`);
    stage(found, done);
    if (found.includes(".generated.")) return `/${placeOf(found)}`;
    const near = posix.relative(posix.dirname(place), placeOf(found));
    return `${near.startsWith(".") ? near : `./${near}`}${anchor === undefined ? "" : `#${anchor}`}`;
  });
  write(place, text);
}

function docsPages() {
  return readdirSync(join(root, "docs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();
}

/** Stages everything, beginning with an empty folder. */
export function stageAll() {
  rmSync(staged, { recursive: true, force: true });
  const done = new Set();
  for (const file of ["README.md", ...docsPages()]) stage(file, done);
}

const urlOf = (file) => `/${placeOf(file).replace(/(?:index)?\.md$/, "")}`;

/** One entry per type below each of the API's parts. */
function apiItems() {
  const parts = new Map();
  for (const file of docsPages().filter((page) => page.startsWith("docs/api/"))) {
    const [, , part = "", name = ""] = file.split("/");
    const items = parts.get(part) ?? [];
    items.push({ text: name.replace(/\.md$/, ""), link: urlOf(file) });
    parts.set(part, items);
  }
  return [...parts].map(([text, items]) => ({ text, collapsed: true, items }));
}

/** One entry per section of docs/config.md. */
function configItems() {
  const sections = [...read("docs/config.md").matchAll(/^### `?(.+?)`?$/gm)].map(([, name]) => name);
  return sections.map((name) => ({ text: name, link: `/config#${anchorOf(name)}` }));
}

/** README's groups; the config has its sections below it, the API its types. */
export function sidebar() {
  return groupsOf(read("README.md")).map(({ title, pages }) => ({
    text: title,
    items: pages.map(({ text, file }) => {
      const items = file === "docs/api.md" ? apiItems() : file === "docs/config.md" ? configItems() : undefined;
      const entry = { text: `${text[0].toUpperCase()}${text.slice(1)}`, link: urlOf(file) };
      return items ? { ...entry, collapsed: true, items } : entry;
    }),
  }));
}

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The packages whose code is in a bundle or in the page, each with what its package.json, the lock and its licence files say, by name. */
export function bundledPackages(root, output) {
  const { packages: locked } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const places = new Set(placesOfPage(root));
  for (const { modules = {} } of output)
    for (const id of Object.keys(modules)) {
      const place = /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, ""))?.[0];
      if (place !== undefined) places.add(place);
    }
  return [...places]
    .map((folder) => describe(folder, locked[folder.slice(root.length + 1)]))
    .sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** The list of licences that is built with the page names its packages. */
function placesOfPage(root) {
  const licences = readFileSync(join(root, "dist", "web", "licences.md"), "utf8");
  return [...licences.matchAll(/^## (\S+) - \d\S* \(/gm)].map(([, name]) => join(root, "node_modules", name));
}

function describe(folder, { integrity } = {}) {
  const { name, version, license, licenses, author, homepage } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  if (integrity === undefined) throw new Error(`${name} is bundled, but the lock does not know it`);
  return {
    name,
    version,
    integrity,
    licence: nameOf(license ?? licenses),
    author: authorOf(author),
    homepage,
    texts: textsIn(folder),
  };
}

function nameOf(license) {
  const one = Array.isArray(license) ? license.map(({ type }) => type).join(" OR ") : license;
  return typeof one === "object" && one !== null ? one.type : (one ?? "");
}

const authorOf = (author) => (typeof author === "string" ? author : author?.name);

/** Licences and notices; of some packages only the README has one. */
function textsIn(folder) {
  return readdirSync(folder)
    .filter((name) => /^(?:licen[cs]e|copying|notice)/i.test(name) && existsSync(join(folder, name)))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").trim());
}

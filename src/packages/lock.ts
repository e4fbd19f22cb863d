import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ownPackage } from "../util/package-folder.js";

const names = z.record(z.string(), z.string()).optional();
const entry = z.looseObject({
  version: z.string().optional(),
  integrity: z.string().optional(),
  dependencies: names,
  optionalDependencies: names,
});
const lockfile = z.looseObject({ lockfileVersion: z.literal(3), packages: z.record(z.string(), entry) });

type Entry = z.output<typeof entry>;
/** The `packages` of a package-lock.json: where each package lies, and by which hash it is known. */
export type Locked = Readonly<Record<string, Entry>>;

/** Made when the program is packed: what can be added, from the lock of the tests, which a checkout has itself. */
export const packedLock = join("dist", "bundle", "optional-lock.json");

/** The versions that this program was tested with. What wants a newer Node than the tests has a lock of its own. */
export function readLock(): Locked {
  const { folder } = ownPackage();
  const own = join(folder, "test", "package-lock.json");
  if (!existsSync(own)) return packagesIn(join(folder, packedLock));
  return { ...packagesIn(join(folder, "test", "postgres", "package-lock.json")), ...packagesIn(own) };
}

function packagesIn(path: string): Locked {
  return lockfile.parse(JSON.parse(readFileSync(path, "utf8"))).packages;
}

/** The version of a package at the top of a lock. @throws for one that is not in it */
export function lockedVersion(locked: Locked, name: string): string {
  const version = locked[`node_modules/${name}`]?.version;
  if (version === undefined) throw new Error(`${name} is not in the lock of this program`);
  return version;
}

/** A lock for these packages alone, with everything that they need, as npm reads it. */
export function lockFor(roots: readonly string[], locked: Locked): { readonly package: object; readonly lock: object } {
  const needed = reach(roots.map(placeAtTop), locked, ({ dependencies }) => dependencies);
  const all = reach([...needed], locked, ({ dependencies, optionalDependencies }) => ({
    ...dependencies,
    ...optionalDependencies,
  }));
  const own = {
    name: "maxclaw-packages",
    version: "0.0.0",
    private: true,
    dependencies: Object.fromEntries(roots.map((name) => [name, lockedVersion(locked, name)])),
  };
  const packages = Object.fromEntries(
    [...all].sort().map((place) => {
      const { dev: _dev, devOptional: _devOptional, peer: _peer, optional: _optional, ...rest } = locked[place] ?? {};
      return [place, needed.has(place) ? rest : { ...rest, optional: true }];
    }),
  );
  const { name, version } = own;
  return {
    package: own,
    lock: { name, version, lockfileVersion: 3, requires: true, packages: { "": own, ...packages } },
  };
}

const placeAtTop = (name: string): string => `node_modules/${name}`;

/** The places of the roots and of all that they depend on. */
function reach(
  roots: readonly string[],
  locked: Locked,
  dependenciesOf: (entry: Entry) => Readonly<Record<string, string>> | undefined,
): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...roots];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const one = locked[place];
    if (one === undefined || found.has(place)) continue;
    found.add(place);
    for (const name of Object.keys(dependenciesOf(one) ?? {})) {
      const next = placeOf(name, place, locked);
      if (next !== undefined) waiting.push(next);
    }
  }
  return found;
}

/** Where Node finds a package for another one: in it, or above it. */
function placeOf(name: string, from: string, locked: Locked): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("node_modules/") - 1))) {
    const place = at === "" ? placeAtTop(name) : `${at}/node_modules/${name}`;
    if (locked[place] !== undefined) return place;
    if (at === "") return undefined;
  }
}

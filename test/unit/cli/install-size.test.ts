import assert from "node:assert/strict";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { packageOptions } from "../../../src/util/packages/options.js";
import { projectFile } from "../../support/project.js";

interface Entry {
  readonly hasInstallScript?: boolean;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
}

const locks = ["package-lock.json", "test/package-lock.json", "test/postgres/package-lock.json"];

async function packagesOf(lock: string): Promise<Readonly<Record<string, Entry>>> {
  return JSON.parse(await readFile(projectFile(lock), "utf8")).packages;
}

/** What a folder takes on disk, without folders of these names. */
function bytesIn(folder: string, without: readonly string[]): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (without.includes(entry.name)) continue;
    const path = join(folder, entry.name);
    bytes += lstatSync(path).blocks * 512 + (entry.isDirectory() ? bytesIn(path, without) : 0);
  }
  return bytes;
}

test("the locks name no registry, and no package runs a script at install", async () => {
  for (const lock of locks) {
    assert.doesNotMatch(await readFile(projectFile(lock), "utf8"), /"resolved": "https?:/, lock);
    const scripted = Object.entries(await packagesOf(lock)).filter(([, { hasInstallScript }]) => hasInstallScript);
    assert.deepEqual(scripted, [], lock);
  }
});

test("each package of the locks is known by its hash, also those for other machines", async () => {
  for (const lock of locks) {
    const unknown = Object.entries(await packagesOf(lock)).filter(
      ([path, { integrity = "", link, inBundle }]) =>
        path !== "" && link !== true && inBundle !== true && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity),
    );
    assert.deepEqual(
      unknown.map(([path]) => path),
      [],
      lock,
    );
  }
});

test("what `npm ci` installs is at most 250 MB", async () => {
  const places = Object.keys(await packagesOf("package-lock.json")).filter(
    (place) => place !== "" && existsSync(projectFile(place)),
  );
  assert.ok(places.length > 150, `only ${places.length} packages are installed`);
  // A package in another one has a line of its own.
  const bytes = places.reduce((sum, place) => sum + bytesIn(projectFile(place), ["node_modules"]), 0);
  // As `du` counts.
  const megabytes = bytes / 2 ** 20;
  assert.ok(megabytes > 100 && megabytes <= 250, `${Math.round(megabytes)} MB`);
});

test("what can be added to a home is not among what `npm ci` installs, but among what the tests use", async () => {
  const [program, ...ofTests] = await Promise.all(locks.map(packagesOf));
  const names = Object.values(packageOptions).flatMap(({ packages }) => packages);
  const misplaced = names.filter((name) => {
    const place = `node_modules/${name}`;
    return program?.[place] !== undefined || ofTests.every((packages) => packages[place] === undefined);
  });
  assert.deepEqual(misplaced, []);
});

test("where two locks of the tests name a package, they name the same version: both are what can be added", async () => {
  const [ofTests = {}, ofPostgres = {}] = await Promise.all(locks.slice(1).map(packagesOf));
  const both = Object.keys(ofPostgres).filter((place) => place !== "" && ofTests[place] !== undefined);
  assert.ok(both.length > 5, `${both.length} packages are in both`);
  const differ = both.filter((place) => ofTests[place]?.integrity !== ofPostgres[place]?.integrity);
  assert.deepEqual(differ, []);
});

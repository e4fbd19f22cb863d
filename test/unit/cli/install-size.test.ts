import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { projectFile } from "../../support/project.js";

test("the lock names no registry, and no package runs a script at install", async () => {
  const lock = await readFile(projectFile("package-lock.json"), "utf8");
  assert.doesNotMatch(lock, /"resolved": "https?:/);
  const { packages } = JSON.parse(lock) as { packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }> };
  const scripted = Object.entries(packages).filter(([, { dev, hasInstallScript }]) => hasInstallScript && dev !== true);
  assert.deepEqual(scripted, []);
});

test("each package of the lock is known by its hash, also those for other machines", async () => {
  const { packages } = JSON.parse(await readFile(projectFile("package-lock.json"), "utf8")) as {
    packages: Record<string, { integrity?: string; link?: boolean; inBundle?: boolean }>;
  };
  const unknown = Object.entries(packages).filter(
    ([path, { integrity = "", link, inBundle }]) =>
      path !== "" && link !== true && inBundle !== true && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity),
  );
  assert.deepEqual(
    unknown.map(([path]) => path),
    [],
  );
});

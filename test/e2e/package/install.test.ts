import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { lstat, readdir, readFile, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { projectFile } from "../../support/project.js";
import { type Installed, installProgram, sizeOfInstall } from "../../support/worlds/installed.js";

const run = promisify(execFile);

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe("the package, installed into an empty folder", { timeout: 240_000 }, () => {
  let installed: Installed;
  before(async () => {
    installed = await installProgram();
  });
  after(() => installed[Symbol.asyncDispose]());

  it("is at most 15 packages and 30 MB", async () => {
    const { packages, megabytes } = await sizeOfInstall(installed.project);
    assert.ok(packages >= 1 && packages <= 15, `${packages} packages`);
    assert.ok(megabytes > 5 && megabytes <= 30, `${megabytes} MB`);
  });

  it("imports nothing that npm has not installed with it", async () => {
    const { dependencies } = JSON.parse(await readFile(join(installed.package, "package.json"), "utf8"));
    // What libraries try to load and can do without.
    const known = new Set([
      ...Object.keys(dependencies),
      ...builtinModules,
      "zlib-sync",
      "bufferutil",
      "utf-8-validate",
      ...["kerberos", "encoding", "supports-color", "canvas"],
    ]);
    const scripts = (await filesBelow(join(installed.package, "dist/bundle"))).filter((file) => /\.c?js$/.test(file));
    assert.ok(scripts.length > 50);
    for (const file of scripts) {
      const code = await readFile(file, "utf8");
      for (const [, name = ""] of code.matchAll(/(?:^|[;}])(?:import|export)\b[^"';]{0,2000}?\bfrom ?"([^"]+)"/g)) {
        if (name.startsWith(".") || name.startsWith("node:")) continue;
        assert.ok(known.has(name), `${file} imports ${name}`);
      }
      for (const [, name = ""] of code.matchAll(/(?<!["'`])(?:\bimport|\brequire|\btoEsm\)?)\(["'`]([^"'`]+)["'`]\)/g))
        assert.ok(/^(?:\.|node:)/.test(name) || known.has(name), `${file} imports ${name}`);
    }
  });

  it("has the docs, the service file, the licences of what is bundled, and a list of it", async () => {
    for (const file of [
      "docs/install.md",
      "docs/cli.md",
      "scripts/maxclaw.service",
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
    ])
      assert.ok((await lstat(join(installed.package, file))).isFile(), file);
    const texts = await readFile(join(installed.package, "dist/bundle/THIRD-PARTY-LICENCES.txt"), "utf8");
    const sbom = JSON.parse(await readFile(join(installed.package, "dist/bundle/sbom.cdx.json"), "utf8"));
    assert.equal(sbom.bomFormat, "CycloneDX");
    const names = sbom.components.map(({ group, name }: { group?: string; name: string }) =>
      group === undefined ? name : `${group}/${name}`,
    );
    for (const name of ["grammy", "@modelcontextprotocol/client", "imapflow", "zod", "preact", "@mermaid-js/tiny"]) {
      assert.ok(names.includes(name), name);
      assert.ok(texts.includes(`\n${name} `), name);
    }
    for (const { hashes, licenses, purl } of sbom.components) {
      assert.match(purl, /^pkg:npm\/.+@\d/);
      assert.match(hashes[0].content, /^[0-9a-f]{128}$/, purl);
      assert.ok(licenses.length > 0, `${purl} has no licence`);
    }
  });

  it("has a README whose links to files lead to files that are in it", async () => {
    const page = await readFile(join(installed.package, "README.md"), "utf8");
    const links = [...page.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
    assert.ok(links.length > 30);
    for (const link of links.filter((one) => !/^https?:/.test(one)))
      await assert.doesNotReject(lstat(join(installed.package, link)), link);
  });

  it("can be imported as a library, with types that a strict compiler takes", async () => {
    const program = `import { createAgent, ChannelError, defineTool } from "maxclaw";
      import { z } from "zod";
      import { createClient } from "maxclaw/client";
      const tool = defineTool({ name: "add_up", description: "Adds.", input: z.object({ a: z.number() }), effect: "read",
        risk: "none", origin: "builtin", async run({ a }) { return { text: String(a + 1), isError: false, summary: "added" }; } });
      const agent = createAgent({ home: process.argv[2] ?? "" }, { tools: [tool] });
      await agent.initialize();
      const skills = await agent.api.listSkills();
      const status = await agent.api.status();
      console.log(JSON.stringify([status.version, typeof createClient, new ChannelError("x").name, skills.length > 0]));
      await agent.dispose();`;
    await writeFile(join(installed.project, "library.mts"), program);
    await writeFile(join(installed.project, "library.mjs"), program);
    const home = join(installed.folder, "library-home");
    const { stdout } = await run(process.execPath, ["library.mjs", home], {
      cwd: installed.project,
      env: installed.env,
    });
    assert.deepEqual(JSON.parse(stdout), ["0.1.0", "function", "ChannelError", true]);
    const types = ["--types", "node", "--typeRoots", projectFile("node_modules/@types")];
    const strict = [
      "--noEmit",
      "--strict",
      "--target",
      "es2022",
      "--lib",
      "es2023,esnext.disposable",
      "--module",
      "nodenext",
    ];
    const tsc = projectFile("node_modules/.bin/tsc");
    await run(tsc, [...strict, ...types, "library.mts"], { cwd: installed.project }).catch((error) =>
      assert.fail(String(error.stdout)),
    );
  });

  it("shows the lines of the sources in a stack trace", async () => {
    const broken =
      "data:text/javascript,import os from 'node:os';import{syncBuiltinESMExports as s}from'node:module';os.homedir=()=>{throw new Error('no such home')};s()";
    const args = ["--import", broken, join(installed.package, "bin/maxclaw.js"), "status"];
    const failed = await run(process.execPath, args, { env: { PATH: installed.env.PATH ?? "" } }).catch(
      (error) => error,
    );
    assert.match(failed.stderr, /no such home/);
    assert.match(failed.stderr, /at .*src\/cli\/start\/start\.ts:\d+:\d+/);
  });
});

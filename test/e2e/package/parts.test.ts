import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { lockFor, readLock } from "../../../src/packages/lock.js";
import { makePdf } from "../../support/documents.js";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { mountSmallDisk } from "../../support/engine/small-disk.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { articlePage, startSite } from "../../support/fakes/web-site.js";
import { projectFile } from "../../support/project.js";
import { finish } from "../../support/worlds/cli.js";
import { openAIConfig } from "../../support/worlds/gateway.js";
import { type Installed, installProgram } from "../../support/worlds/installed.js";
import { browserArgs, withoutChromium, withoutSmallDisk } from "../../support/worlds/needs.js";

/** All that the parts need which are added here, as far as it is for this machine. */
function packagesOfParts(): readonly string[] {
  const { lock } = lockFor(["playwright-core", "pdfjs-dist"], readLock());
  const { packages } = lock as { readonly packages: Readonly<Record<string, unknown>> };
  return Object.keys(packages).flatMap((place) =>
    place !== "" && existsSync(projectFile(join("test", place))) ? [place.slice("node_modules/".length)] : [],
  );
}

describe("maxclaw add, in the installed package", { timeout: 240_000 }, () => {
  let installed: Installed;
  let home = "";

  before(async () => {
    installed = await installProgram(packagesOfParts());
    home = join(installed.folder, "home");
    await mkdir(home, { mode: 0o700 });
    await lockToRegistry();
  });
  after(() => installed[Symbol.asyncDispose]());

  /** The lock of the package has the hashes of npm's registry; the one here packs again. */
  async function lockToRegistry(): Promise<void> {
    const file = join(installed.package, "dist/bundle/optional-lock.json");
    const lock = JSON.parse(await readFile(file, "utf8"));
    for (const [place, entry] of Object.entries<{ integrity: string }>(lock.packages)) {
      const integrity = installed.registry.integrityOf(place.slice("node_modules/".length));
      if (place !== "" && integrity !== "") entry.integrity = integrity;
    }
    await writeFile(file, JSON.stringify(lock));
  }

  function start(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const program = join(installed.package, "bin/maxclaw.js");
    return spawn(process.execPath, [program, ...args], { env: { ...installed.env, MAXCLAW_HOME: home, ...more } });
  }
  const maxclaw = (args: readonly string[], more?: Readonly<Record<string, string>>) => finish(start(args, more));

  async function listed(name: string): Promise<{ readonly state: string; readonly packages: readonly string[] }> {
    const { stdout } = await maxclaw(["add", "--json"]);
    return JSON.parse(stdout).options.find((one: { name: string }) => one.name === name);
  }

  /** What is in the folder of packages, except for the name that changes. */
  const kept = async (): Promise<string> =>
    JSON.stringify([
      await readFile(join(home, "packages/current.json"), "utf8").catch(() => ""),
      (await readdir(join(home, "packages")).catch(() => [])).sort(),
    ]);

  it("lists what there is, and refuses a name that there is not", async () => {
    const { code, stdout } = await maxclaw(["add"]);
    assert.equal(code, 0);
    assert.match(stdout, /^NAME +INSTALLED +PACKAGES +FOR\nbrowser +no +playwright-core \d/);
    const wrong = await maxclaw(["add", "brwoser"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /maxclaw: brwoser cannot be added\. There is: browser, matrix-crypto, pdf, storage/);
    const gone = await maxclaw(["remove", "browser"]);
    assert.deepEqual([gone.code, gone.stderr], [1, "maxclaw: browser was not added here.\n"]);
  });

  it("changes nothing when the download is cut, is something else, or there is no network or no room", async () => {
    await mkdir(join(home, "packages"), { recursive: true });
    const before = await kept();
    const failing = async (why: RegExp, more?: Readonly<Record<string, string>>): Promise<void> => {
      const { code, stderr } = await maxclaw(["add", "browser"], more);
      assert.equal(code, 1);
      assert.match(stderr, why);
      assert.match(stderr, /Nothing was changed\./);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.equal(await kept(), before, "nothing is left behind");
    };
    installed.registry.fault = "other-bytes";
    await failing(/The download is damaged: its hash is not the one that was expected/);
    installed.registry.fault = "cut";
    await failing(/The package registry could not be reached/);
    installed.registry.fault = "none";
    await failing(/The package registry could not be reached/, { npm_config_registry: "http://127.0.0.1:9/" });
    await failing(/registry is not a web address/, { npm_config_registry: "nowhere" });
  });

  it("changes nothing when the disk is full, or when the home cannot be written", {
    skip: withoutSmallDisk(),
  }, async () => {
    using disk = mountSmallDisk("4m");
    const full = await maxclaw(["add", "browser"], { MAXCLAW_HOME: disk.folder });
    assert.equal(full.code, 1);
    assert.match(full.stderr, /[Tt]he disk is full\..*Free some space/);
    assert.deepEqual(await readdir(join(disk.folder, "packages")), []);
    await mkdir(join(disk.folder, "new"), { mode: 0o700 });
    execFileSync("mount", ["-o", "remount,ro", disk.folder]);
    for (const home of [disk.folder, join(disk.folder, "new")]) {
      const closed = await maxclaw(["add", "browser"], { MAXCLAW_HOME: home });
      assert.equal(closed.code, 1);
      assert.match(
        closed.stderr,
        /packages\S* cannot be used: its disk is mounted read-only\..* Nothing was changed\./,
      );
    }
    // With room it goes well, on another file system than that of temporary files.
    execFileSync("mount", ["-o", "remount,rw,size=200m", disk.folder]);
    const added = await maxclaw(["add", "browser"], { MAXCLAW_HOME: disk.folder });
    assert.deepEqual([added.code, added.stdout], [0, "browser is installed.\n"], added.stderr);
  });

  it("installs into a home that a link leads to", async (t) => {
    const folder = tempFolder(t);
    await mkdir(join(folder, "real"), { mode: 0o700 });
    await symlink(join(folder, "real"), join(folder, "link"));
    const added = await maxclaw(["add", "pdf"], { MAXCLAW_HOME: join(folder, "link") });
    assert.deepEqual([added.code, added.stdout], [0, "pdf is installed.\n"], added.stderr);
    assert.deepEqual(await readdir(join(folder, "real", "packages")), await readdir(join(folder, "link", "packages")));
  });

  it("installs the exact version, which the status names and the gateway finds, and removes it again", async () => {
    const added = await maxclaw(["add", "browser"]);
    assert.deepEqual([added.code, added.stdout], [0, "browser is installed.\n"], added.stderr);
    const wanted = JSON.parse(await readFile(join(installed.package, "dist/bundle/optional-lock.json"), "utf8"));
    const { version } = wanted.packages["node_modules/playwright-core"];
    assert.deepEqual(await listed("browser"), {
      name: "browser",
      about: "the browser tool. It uses the Chromium or Chrome of this machine",
      state: "added",
      packages: [`playwright-core ${version}`],
    });
    assert.match((await maxclaw(["status"])).stdout, /^Added: +browser$/m);
    assert.equal((await stat(join(home, "packages"))).mode & 0o777, 0o700);
    const removed = await maxclaw(["remove", "browser"], { npm_config_registry: "http://127.0.0.1:9/" });
    assert.deepEqual([removed.code, removed.stdout, removed.stderr], [0, "browser is removed.\n", ""]);
    assert.deepEqual(JSON.parse(await kept()), ["", []]);
    assert.doesNotMatch((await maxclaw(["status"])).stdout, /Added:/);
  });

  it("gives the gateway a browser and a reader of PDF files", { skip: withoutChromium() }, async () => {
    await using site = await startSite((_request, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(articlePage("Tides", "<p>The sea comes and goes.</p>"));
    });
    const calls = [
      { id: "call_pdf", name: "read_file", input: { path: "letter.pdf" } },
      { id: "call_browser", name: "browser", input: { action: "navigate", url: site.url } },
    ];
    await using model = await startFakeOpenAI({
      answer: ({ bodyText }) => {
        const next = calls.find(({ id }) => !bodyText.includes(`"tool_call_id":"${id}"`));
        return next === undefined ? { text: "all tried" } : { toolCalls: [next] };
      },
    });
    const tools = { web: { fetch: { allow: [site.host] } }, browser: { args: [...browserArgs] } };
    const read = async (at: string): Promise<string> => {
      const folder = join(at, "workspace", ".sessions", "cli_default");
      await mkdir(folder, { recursive: true });
      await writeFile(join(at, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { tools })));
      await writeFile(join(folder, "letter.pdf"), makePdf(["BT /F1 12 Tf 72 720 Td (A letter about tides) Tj ET"]));
      const { stdout, stderr } = await maxclaw(["agent", "-m", "read it"], { MAXCLAW_HOME: at });
      assert.match(stdout, /all tried/, stderr);
      return model.requests.at(-1)?.bodyText ?? "";
    };
    const without = await read(join(installed.folder, "home-without"));
    assert.match(without, /the reader of PDF files is not installed here\. Install it with: maxclaw add pdf/);
    for (const part of ["pdf", "browser"]) {
      const { code, stderr } = await maxclaw(["add", part]);
      assert.equal(code, 0, stderr);
    }
    const withParts = await read(home);
    assert.match(withParts, /A letter about tides/);
    assert.match(withParts, /The sea comes and goes/);
    assert.equal((await maxclaw(["remove", "pdf"])).code, 0);
    assert.deepEqual([(await listed("pdf")).state, (await listed("browser")).state], ["absent", "added"]);
    await maxclaw(["remove", "browser"]);
  });

  it("refuses a second change at the same time, and goes on after one that was killed", async () => {
    installed.registry.fault = "wait";
    const asked = installed.registry.downloads.length;
    const first = start(["add", "browser"]);
    const ended = finish(first);
    await until("the first one downloads", () => installed.registry.downloads.length > asked, 30_000);
    const second = await maxclaw(["add", "browser"]);
    assert.equal(second.code, 1);
    assert.match(
      second.stderr,
      /Another process \(\d+\) is changing the packages of this home\. Nothing was changed here\./,
    );
    first.kill("SIGKILL");
    await ended;
    installed.registry.fault = "none";
    assert.deepEqual((await maxclaw(["add", "browser"])).code, 0);
    assert.equal((await listed("browser")).state, "added");
    const { folder } = JSON.parse(await readFile(join(home, "packages/current.json"), "utf8"));
    assert.deepEqual((await readdir(join(home, "packages"))).sort(), ["current.json", folder].sort());
    await maxclaw(["remove", "browser"]);
  });

  it("says which part is of another version, damaged, or not to be read at all", async () => {
    await maxclaw(["add", "browser"]);
    const { folder } = JSON.parse(await readFile(join(home, "packages/current.json"), "utf8"));
    const manifest = join(home, "packages", folder, "node_modules/playwright-core/package.json");
    const about = JSON.parse(await readFile(manifest, "utf8"));
    await writeFile(manifest, JSON.stringify({ ...about, version: "1.0.0" }));
    assert.match(
      (await maxclaw(["status"])).stdout,
      /Problem: +playwright-core is version 1\.0\.0, but this maxclaw was tested with .*Run: maxclaw add browser/,
    );
    await rm(join(home, "packages", folder), { recursive: true });
    assert.match(
      (await maxclaw(["status"])).stdout,
      /Problem: +browser is damaged\. Add it again: maxclaw add browser/,
    );
    await writeFile(join(home, "packages/current.json"), "{torn");
    assert.match((await maxclaw(["status"])).stdout, /Problem: .*current\.json cannot be read/);
    assert.equal((await maxclaw(["add", "browser"])).code, 0);
    assert.doesNotMatch((await maxclaw(["status"])).stdout, /Problem: .*(?:current\.json|browser is damaged)/);
    await maxclaw(["remove", "browser"]);
  });
});

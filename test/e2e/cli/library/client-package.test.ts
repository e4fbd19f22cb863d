import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { build } from "vite";
import { projectFile } from "../../../support/project.js";
import { startWithModel } from "../../../support/worlds/gateway.js";
import { openChromium, pageTest } from "../../../support/worlds/http/chromium.js";
import { packProgram } from "../../../support/worlds/installed.js";
import { withoutChromium } from "../../../support/worlds/needs.js";

const run = promisify(execFile);
const docs = await readFile(projectFile("docs/client.md"), "utf8");

/** The first block of code below a heading. */
function codeUnder(heading: string): string {
  const code = new RegExp(`^## ${heading}\\n[^]*?\`\`\`js\\n([^]*?)\`\`\``, "m").exec(docs)?.[1];
  if (code === undefined) throw new Error(`docs/client.md has no code under "${heading}"`);
  return code;
}

/** Another web site of this machine. */
async function openSite(body: () => string) {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(body());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function startAnswering(more: Record<string, unknown> = {}) {
  return startWithModel(
    (request) =>
      request.index === 0
        ? { toolCalls: [{ id: "call_1", name: "list_dir", input: { path: "." } }] }
        : { text: ["You said: ", request.userText.split("\n\n").at(-1) ?? "", "."] },
    more,
  );
}

describe("maxclaw/client, as it is installed", { timeout: 90_000 }, () => {
  let folder = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "maxclaw-package-"));
    const modules = join(folder, "node_modules");
    await mkdir(modules);
    await run("tar", ["-xzf", await packProgram(folder), "-C", modules]);
    await run("mv", [join(modules, "package"), join(modules, "maxclaw")]);
    // What npm would install with it, for its types.
    await symlink(projectFile("node_modules/zod"), join(modules, "zod"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("runs the documented example in Node", async () => {
    await using gateway = await startAnswering();
    await writeFile(join(folder, "example.mjs"), codeUnder("In Node"));
    const env = { PATH: process.env.PATH, MAXCLAW_URL: gateway.url };
    const { stdout, stderr } = await run(process.execPath, ["example.mjs", "good day"], { cwd: folder, env });
    assert.deepEqual([stdout, stderr], ["(uses list_dir)\nYou said: good day.\n", ""]);
  });

  it("has types that a strict compiler takes, in Node and for a bundler", async () => {
    const code = `
      import { type Client, ClientError, createClient, type GatewayEvent } from "maxclaw/client";
      const client: Client = createClient({ url: () => "http://127.0.0.1:1" });
      const undo: () => void = client.subscribe("webui:a", (event) => {
        const name: string = event.payload.tool_name;
        // @ts-expect-error such an event has no text
        event.payload.text;
      }, { types: ["tool_execution_start"], fromSequence: 0 });
      client.subscribe("*", (event: GatewayEvent) => event.type === "text_delta" && event.payload.text.length);
      // @ts-expect-error there is no such type
      client.subscribe("system", () => {}, { types: ["nothing_happened"] });
      // @ts-expect-error a message has content
      client.sendMessage({ sessionKey: "webui:a" }).catch((e: unknown) => e instanceof ClientError && e.kind === "lost");
      const state: "connecting" | "open" | "closing" | "closed" = client.state;
      export { state, undo };`;
    await writeFile(join(folder, "check.ts"), code);
    const tsc = projectFile("node_modules/.bin/tsc");
    const check = async (...modules: readonly string[]): Promise<void> => {
      const args = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom", "--types", "", ...modules];
      await run(tsc, [...args, "check.ts"], { cwd: folder }).catch((error) => assert.fail(String(error.stdout)));
    };
    await Promise.all([check("--module", "nodenext"), check("--module", "esnext", "--moduleResolution", "bundler")]);
  });

  it("is a few kilobytes in a browser and needs nothing else", async () => {
    // The documented example as a page, bundled as anybody's.
    const entry = join(folder, "page.js");
    await writeFile(entry, codeUnder("In a browser"));
    const lib = { entry, formats: ["es" as const], fileName: () => "page.js" };
    await build({
      root: folder,
      configFile: false,
      logLevel: "error",
      build: { outDir: join(folder, "out"), lib, minify: true },
    });
    const bundle = await readFile(join(folder, "out", "page.js"), "utf8");
    assert.ok(bundle.length < 20_000, `${bundle.length} bytes`);
    assert.doesNotMatch(bundle, /\bimport\b|zod|node:/);
  });

  describe("in a browser", { skip: withoutChromium() }, () => {
    pageTest("runs the documented example in a browser", async () => {
      const bundle = await readFile(join(folder, "out", "page.js"), "utf8");
      let body = "";
      await using site = await openSite(() => body);
      await using gateway = await startAnswering({ gateway: { allowedOrigins: [site.url] } });
      body = `<!doctype html><body data-gateway="${gateway.url}"><p id="state"></p><p id="answer"></p>
        <form><input name="text"><button>Send</button></form><script type="module">${bundle}</script></body>`;
      await using browser = await openChromium();
      const page = await browser.newPage();
      page.setDefaultTimeout(10_000);
      await page.goto(site.url);
      await page.locator("#state", { hasText: "open" }).waitFor();
      await page.locator("input").fill("good day");
      await page.locator("button").click();
      await page.locator("#answer", { hasText: "You said: good day." }).waitFor();
    });
  });
});

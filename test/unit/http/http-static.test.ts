import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { openTestServer, rawRequest } from "../../support/worlds/http/http-server.js";

test("the page comes with its type, a strict policy and an ETag; hashed assets are kept for ever", async () => {
  await using served = await openTestServer();
  const page = await fetch(`${served.url}/`);
  assert.equal(await page.text(), "<!doctype html><title>page</title>");
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(page.headers.get("cache-control"), "no-cache");
  assert.equal(page.headers.get("x-content-type-options"), "nosniff");
  const policy = page.headers.get("content-security-policy") ?? "";
  for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.includes(rule), rule);
  assert.doesNotMatch(policy, /unsafe/);
  const etag = page.headers.get("etag") ?? "";
  assert.match(etag, /^".+"$/);
  const known = await fetch(`${served.url}/`, { headers: { "if-none-match": `"x", W/${etag}` } });
  assert.deepEqual([known.status, await known.text()], [304, ""]);
  const asset = await fetch(`${served.url}/assets/index-Abc12345.js`);
  assert.equal(asset.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.match(asset.headers.get("cache-control") ?? "", /immutable/);
  const head = await fetch(`${served.url}/`, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("content-length"), await head.text()], [200, "34", ""]);
});

test("text comes compressed to who takes that, and each form has its own ETag", async () => {
  await using served = await openTestServer();
  const code = `export const words = ${JSON.stringify("the same words again ".repeat(2000))};`;
  await writeFile(join(served.webRoot, "assets", "long-Abc12345.js"), code);
  await writeFile(join(served.webRoot, "assets", "dots-Abc12345.png"), code);
  const read = async (name: string, accepted: string) => {
    const headers = { "accept-encoding": accepted };
    const answer = await fetch(`${served.url}/assets/${name}`, { headers });
    const of = (header: string): string | null => answer.headers.get(header);
    return { text: await answer.text(), encoding: of("content-encoding"), etag: of("etag") ?? "", vary: of("vary") };
  };
  const plain = await read("long-Abc12345.js", "identity");
  assert.deepEqual([plain.text, plain.encoding, plain.vary], [code, null, "Accept-Encoding"]);
  for (const accepted of ["gzip, deflate, br", "br;q=1, GZIP ; q=0.5", "*"]) {
    const small = await read("long-Abc12345.js", accepted);
    assert.deepEqual([small.text, small.encoding, small.vary], [code, "gzip", "Accept-Encoding"], accepted);
    assert.notEqual(small.etag, plain.etag);
    const known = { "accept-encoding": accepted, "if-none-match": small.etag };
    assert.equal((await fetch(`${served.url}/assets/long-Abc12345.js`, { headers: known })).status, 304);
  }
  for (const accepted of ["gzip;q=0", "br, gzip; q=0.0, deflate", "xgzip"])
    assert.equal((await read("long-Abc12345.js", accepted)).encoding, null, accepted);
  assert.equal((await read("dots-Abc12345.png", "gzip")).encoding, null, "a picture is small already");
  assert.equal((await read("index-Abc12345.js", "gzip")).encoding, null, "nor what fits into one packet");
});

test("a file that is stored packed comes under its own name, packed or not as the reader takes it", async () => {
  await using served = await openTestServer();
  const code = "globalThis.library = true;";
  const packed = gzipSync(code);
  await mkdir(join(served.webRoot, "diagrams"));
  await writeFile(join(served.webRoot, "diagrams", "library.js.gz"), packed);
  for (const [accepted, encoding, length] of [
    ["gzip", "gzip", String(packed.length)],
    ["identity", null, null],
  ] as const) {
    const answer = await fetch(`${served.url}/diagrams/library.js`, { headers: { "accept-encoding": accepted } });
    assert.equal(await answer.text(), code);
    assert.deepEqual(
      ["content-encoding", "content-length", "content-type"].map((name) => answer.headers.get(name)),
      [encoding, length, "text/javascript; charset=utf-8"],
    );
  }
});

test("what draws diagrams may be framed by the page alone, and has neither an origin nor a network", async () => {
  await using served = await openTestServer();
  await mkdir(join(served.webRoot, "diagrams"));
  await writeFile(join(served.webRoot, "diagrams", "frame.html"), "<!doctype html>");
  const { headers } = await fetch(`${served.url}/diagrams/frame.html`);
  const policy = headers.get("content-security-policy")?.split("; ") ?? [];
  for (const rule of ["default-src 'none'", "frame-ancestors 'self'", "sandbox allow-scripts"])
    assert.ok(policy.includes(rule), rule);
  assert.doesNotMatch(policy.join(), /connect-src|img-src|allow-same-origin|unsafe-eval/);
  assert.equal(headers.get("x-frame-options"), "SAMEORIGIN");
});

test("paths of the page's own get index.html, but only by GET and without an extension", async () => {
  await using served = await openTestServer();
  const statusOf = async (path: string, method = "GET"): Promise<number> =>
    (await fetch(`${served.url}${path}`, { method })).status;
  assert.match(await (await fetch(`${served.url}/chat/webui%3A1`)).text(), /<title>page/);
  assert.equal(await statusOf("/missing.js"), 404);
  assert.equal(await statusOf("/assets/missing-Abc12345.js"), 404);
  assert.equal(await statusOf("/api/missing"), 404);
  assert.equal(await statusOf("/chat", "POST"), 405);
  assert.equal(await statusOf("/", "DELETE"), 405);
});

test("nothing outside the page's folder is served, however the path is written", async () => {
  await using served = await openTestServer();
  const { port } = served.server;
  const paths = [
    "/../outside.txt",
    "/assets/../../outside.txt",
    "/%2e%2e/outside.txt",
    "/..%2foutside.txt",
    "/assets/..%2f..%2foutside.txt",
    "/%2e%2e%2foutside.txt",
    "/..%5coutside.txt",
    "//outside.txt",
    "/.env",
    "/%2eenv",
    "/assets/%00.js",
    "http://127.0.0.1/outside.txt",
  ];
  for (const path of paths) {
    const answer = await rawRequest(port, { path });
    assert.ok(answer.status === 400 || answer.status === 404, `${path} → ${answer.status}`);
    assert.doesNotMatch(answer.text, /outside$|SECRET/, path);
  }
});

test("a link that leads out of the page's folder is not followed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-link-"));
  try {
    await writeFile(join(folder, "secret.txt"), "secret");
    await using served = await openTestServer();
    const { port } = served.server;
    assert.equal((await rawRequest(port, { path: "/link.txt" })).status, 404);
    await symlink(join(folder, "secret.txt"), join(served.webRoot, "link.txt"));
    await symlink(join(served.webRoot, "index.html"), join(served.webRoot, "inside.html"));
    assert.equal((await rawRequest(port, { path: "/link.txt" })).status, 404);
    assert.equal((await rawRequest(port, { path: "/inside.html" })).status, 200);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("without a built page the address says how to build it", async () => {
  await using served = await openTestServer({ webRoot: "/does/not/exist" });
  const page = await fetch(`${served.url}/`);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /npm run build/);
  assert.equal((await fetch(`${served.url}/api/status`)).status, 200);
});

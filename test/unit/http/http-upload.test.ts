import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import type { HttpOptions } from "../../../src/http/options.js";
import { createUploads, type Uploads } from "../../../src/inbound/uploads.js";
import { silentLog } from "../../../src/log.js";
import { fillUp, smallDisk } from "../../support/engine/small-disk.js";
import { openTestServer, rawRequest, type TestServer } from "../../support/worlds/http/http-server.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";

const answerShape = z.object({
  path: z.string(),
  filename: z.string(),
  mimeType: z.string(),
  sizeBytes: z.number(),
  url: z.string(),
});
const fileOf = async (answer: Response) => answerShape.parse(await answer.json());
const errorOf = async (answer: Response) => z.object({ error: z.string() }).parse(await answer.json()).error;
const megabyte = 1024 * 1024;
const limitMs = 20_000;

interface Place extends AsyncDisposable {
  readonly served: TestServer;
  readonly uploads: Uploads;
  readonly folder: string;
  post(body: string | Uint8Array<ArrayBuffer>, headers?: Record<string, string>): Promise<Response>;
  names(): Promise<readonly string[]>;
}

async function openPlace(options: Partial<HttpOptions> = {}, home?: string): Promise<Place> {
  const root = home ?? (await mkdtemp(join(tmpdir(), "maxclaw-up-")));
  const folder = join(root, ".uploads");
  const receivedOf = (key: string): string => join(root, "sessions", key, "received");
  const uploads = createUploads({ folder, receivedOf, maxBytes: () => megabyte, log: silentLog });
  const { keep: upload, open: openUpload, openReceived } = uploads;
  const served = await openTestServer(options, { upload, openUpload, openReceived });
  return {
    served,
    uploads,
    folder,
    post: (body, headers = {}) =>
      fetch(`${served.url}/api/upload`, { method: "POST", body, headers: { "x-filename": "a.txt", ...headers } }),
    names: () => readdir(folder).catch(() => []),
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      if (home === undefined) await rm(root, { recursive: true, force: true });
    },
  };
}

const until = async (isTrue: () => Promise<boolean>, what: string): Promise<void> => {
  const end = Date.now() + limitMs;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`still waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

test("a file goes in whole under a name of its own, and comes back as a download that runs nowhere", async () => {
  await using place = await openPlace();
  const page = "<script>alert(1)</script>";
  const headers = { "x-filename": encodeURIComponent("über/../Bericht \u202e.html"), "content-type": "text/html" };
  const first = await place.post(page, headers);
  assert.equal(first.status, 201);
  const file = await fileOf(first);
  assert.equal(file.filename, "Bericht _.html");
  assert.deepEqual([file.mimeType, file.sizeBytes], ["text/html", page.length]);
  assert.equal(dirname(file.path), place.folder);
  assert.equal(await readFile(file.path, "utf8"), page);
  const second = await fileOf(await place.post("other", headers));
  assert.notEqual(second.path, file.path);
  assert.equal((await place.names()).length, 2);

  const back = await fetch(place.served.url + file.url);
  assert.equal(back.status, 200);
  assert.equal(await back.text(), page);
  assert.match(back.headers.get("content-disposition") ?? "", /^attachment; filename="Bericht _\.html"/);
  assert.equal(back.headers.get("x-content-type-options"), "nosniff");
  assert.match(back.headers.get("content-security-policy") ?? "", /sandbox/);
});

test("what came with a message is read back in its own session only, and never what a link or another name leads to", async () => {
  await using place = await openPlace();
  const sent = await fileOf(await place.post("<b>mine</b>", { "x-filename": "note.html" }));
  const attachment = { path: sent.path, filename: "note.html", mimeType: "text/html", sizeBytes: 11 };
  const [handed] = await place.uploads.hand("webui:1", "msg_1", [attachment], "webui:owner");
  const received = dirname(handed?.path ?? "");
  const name = basename(handed?.path ?? "");
  const secret = join(dirname(place.folder), "secret.txt");
  await writeFile(secret, "secret");
  await symlink(secret, join(received, "00000000-link.txt"));
  await mkdir(join(received, "folder"));
  const read = (session: string, file: string): Promise<Response> =>
    fetch(`${place.served.url}/api/sessions/${session}/received/${encodeURIComponent(file)}`);

  const back = await read("webui:1", name);
  assert.deepEqual([back.status, await back.text()], [200, "<b>mine</b>"]);
  assert.match(back.headers.get("content-disposition") ?? "", /^attachment; filename="note\.html"/);
  assert.match(back.headers.get("content-security-policy") ?? "", /sandbox/);
  const others = ["00000000-link.txt", "../../../secret.txt", secret, "..", ".", "folder", "x\0"];
  for (const file of others) {
    const answer = await read("webui:1", file);
    assert.ok([400, 404].includes(answer.status), `${file}: ${answer.status}`);
    assert.doesNotMatch(await answer.text(), /^secret$/);
  }
  assert.equal((await read("webui:2", name)).status, 404);
});

test("a file comes in as curl sends it: called a form's fields, and its name not encoded", async () => {
  await using place = await openPlace();
  const asForm = { "content-type": "application/x-www-form-urlencoded" };
  const plain = await place.post("a=1", { ...asForm, "x-filename": "report.pdf" });
  assert.equal(plain.status, 201);
  const { filename, mimeType, path } = await fileOf(plain);
  assert.deepEqual([filename, mimeType, await readFile(path, "utf8")], ["report.pdf", "application/pdf", "a=1"]);
  for (const [sent, name] of [
    [Buffer.from("周报.pdf").toString("latin1"), "周报.pdf"],
    ["\u00fcber.pdf", "über.pdf"],
    [Buffer.from("周%20报.pdf").toString("latin1"), "周 报.pdf"],
  ] as const) {
    const answer = await place.post("x", { ...asForm, "x-filename": sent });
    assert.equal((await fileOf(answer)).filename, name);
  }
});

test("names stay within what file systems take, and their ends with them", async () => {
  await using place = await openPlace();
  for (const [given, end] of [
    [`${"漢".repeat(300)}.pdf`, ".pdf"],
    [`${"😀".repeat(200)}.txt`, ".txt"],
    ["..", ""],
    ["C:\\fakepath\\x.png", ".png"],
  ] as const) {
    const answer = await place.post("x", { "x-filename": encodeURIComponent(given) });
    assert.equal(answer.status, 201, given);
    const { path, filename } = await fileOf(answer);
    assert.ok(Buffer.byteLength(basename(path)) < 200 && filename.endsWith(end) && filename.isWellFormed(), filename);
  }
});

test("no page from elsewhere can leave a file here, nor anybody without the token", async () => {
  await using place = await openPlace();
  const { url } = place.served;
  const attempts: readonly Record<string, string>[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    // What a form can send, even where nobody names the page that it comes from.
    { "x-filename": "", "content-type": "text/plain" },
    { "content-type": "multipart/form-data; boundary=x" },
    { "x-filename": "", "content-type": "application/x-www-form-urlencoded" },
    { origin: "https://evil.example", "content-type": "application/x-www-form-urlencoded" },
    { "content-encoding": "gzip" },
    { "x-filename": "%ff" },
  ];
  for (const headers of attempts) {
    const answer = await place.post("x", headers);
    assert.ok([400, 403, 415].includes(answer.status), `${JSON.stringify(headers)}: ${answer.status}`);
  }
  const preflight = await fetch(`${url}/api/upload`, {
    method: "OPTIONS",
    headers: { origin: "https://evil.example" },
  });
  assert.equal(preflight.status, 403);
  const host = { host: "evil.example", "x-filename": "a.txt" };
  const foreign = await rawRequest(
    place.served.server.port,
    { path: "/api/upload", method: "POST", headers: host },
    "x",
  );
  assert.equal(foreign.status, 403);
  assert.deepEqual(await place.names(), []);

  await using guarded = await openPlace({ token: "secret" });
  assert.equal((await guarded.post("x")).status, 401);
  assert.deepEqual(await guarded.names(), []);
  const kept = await guarded.post("x", { authorization: "Bearer secret" });
  assert.equal(kept.status, 201);
  assert.equal((await fetch(guarded.served.url + (await fileOf(kept)).url)).status, 401);
  const json = await fetch(`${url}/api/message`, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "text/plain" },
  });
  assert.equal(json.status, 415, "every other route takes JSON only");
});

test("what is too large is refused at its announcement or on its way, and nothing of it stays", async () => {
  await using place = await openPlace();
  const announced = await place.post(Buffer.alloc(megabyte + 1));
  assert.equal(announced.status, 413);
  assert.match(await errorOf(announced), /a\.txt is larger than the 1 MB/);
  const { port } = place.served.server;
  const streamed = await new Promise<number>((resolve, reject) => {
    const options = { port, method: "POST", path: "/api/upload", headers: { "x-filename": "a.txt" } };
    const sent = request({ host: "127.0.0.1", ...options }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject);
    for (let i = 0; i < 40; i++) sent.write(Buffer.alloc(megabyte / 16));
    sent.end();
  });
  assert.equal(streamed, 413);
  assert.deepEqual(await place.names(), []);
  assert.equal((await place.post(Buffer.alloc(megabyte))).status, 201, "just as large as may be");
});

test("a connection that is cut leaves nothing behind, and neither does what an ended gateway had begun", async () => {
  await using place = await openPlace();
  const { port } = place.served.server;
  const options = { port, method: "POST", path: "/api/upload", headers: { "x-filename": "a.txt" } };
  const sent = request({ host: "127.0.0.1", ...options });
  sent.on("error", () => undefined);
  sent.write(Buffer.alloc(1000));
  await until(async () => (await place.names()).length === 1, "the beginning of the file");
  assert.match((await place.names())[0] ?? "", /^\..*\.tmp$/);
  sent.destroy();
  await until(async () => (await place.names()).length === 0, "the end of it");

  await using next = await openPlace();
  await next.post("x");
  await writeFile(join(next.folder, "000000000000-b.txt.00000000.part"), "half");
  await writeFile(join(next.folder, ".0000000000000000.tmp"), "half");
  await using again = await openPlace({}, dirname(next.folder));
  await again.post("y");
  assert.deepEqual(
    (await again.names()).filter((name) => /\.(part|tmp)$/.test(name)),
    [],
  );
  assert.equal((await again.names()).length, 2);
});

test("nothing but uploaded files is given back", async () => {
  await using place = await openPlace();
  const { path } = await fileOf(await place.post("x"));
  const secret = join(dirname(place.folder), "secret.txt");
  await writeFile(secret, "secret");
  await symlink(secret, join(place.folder, "link.txt"));
  await writeFile(join(place.folder, ".hidden"), "hidden");
  for (const name of [
    "link.txt",
    ".hidden",
    "..%2fsecret.txt",
    "%2e%2e%2fsecret.txt",
    "..%5csecret.txt",
    "none.txt",
    ".",
  ]) {
    const answer = await rawRequest(place.served.server.port, {
      path: `/api/uploads/${name}`,
      headers: { host: `127.0.0.1:${place.served.server.port}` },
    });
    assert.ok([400, 404].includes(answer.status), `${name}: ${answer.status}`);
    assert.doesNotMatch(answer.text, /"?secret"?$|hidden$/);
  }
  const files = [{ path: join(place.folder, "link.txt"), filename: "l.txt", mimeType: "text/plain", sizeBytes: 0 }];
  await assert.rejects(
    place.uploads.hand("webui_a", "msg_00000001", files, "webui:owner"),
    /l\.txt is not there any more/,
  );
  const mine = [{ path, filename: "a.txt", mimeType: "text/plain", sizeBytes: 1 }];
  const [handed] = await place.uploads.hand("webui_a", "msg_00000001", mine, "webui:owner");
  assert.deepEqual(await place.uploads.hand("webui_a", "msg_00000001", mine, "webui:owner"), [handed]);
  assert.deepEqual(await readdir(dirname(handed?.path ?? "")), [basename(handed?.path ?? "")]);
  const [other] = await place.uploads.hand("webui_b", "msg_00000001", mine, "webui:owner");
  await writeFile(handed?.path ?? "", "changed by a tool");
  assert.equal(await readFile(other?.path ?? "", "utf8"), "x", "what one session does to its copy no other sees");
  await place.uploads.hand("webui_a", "msg_00000001", mine, "webui:owner");
  assert.equal(await readFile(handed?.path ?? "", "utf8"), "changed by a tool", "nor is it undone");
});

test("a full disk is told, and keeps its last room free", { skip: withoutSmallDisk() }, async (t: TestContext) => {
  const disk = smallDisk(t, "1m");
  await using place = await openPlace({}, disk);
  assert.equal((await place.post("x")).status, 201);
  fillUp(disk, 64 * 1024);
  const refused = await place.post(Buffer.alloc(megabyte / 2));
  assert.equal(refused.status, 507);
  assert.match(await errorOf(refused), /disk is full\. a\.txt was not kept/);
  assert.equal((await place.names()).length, 1);
});

test("an upload may take longer than other requests", async () => {
  await using place = await openPlace({ timings: { requestTimeoutMs: 100, headersTimeoutMs: 100 } });
  const { port } = place.served.server;
  const begin = (path: string) => {
    const headers = { "content-type": "application/json", "x-filename": "slow.json" };
    const sent = request({ host: "127.0.0.1", port, method: "POST", path, headers });
    sent.write("{");
    const status = new Promise<number>((resolve, reject) => {
      sent.on("error", reject).on("response", (response) => resolve(response.resume().statusCode ?? 0));
    });
    return { status, end: () => sent.end("}") };
  };
  const file = begin("/api/upload");
  assert.equal(await begin("/api/message").status, 408);
  assert.equal(await begin("/api/message").status, 408, "and long enough for the server to look at the other one");
  file.end();
  assert.equal(await file.status, 201);
});

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { transcribe } from "../../../src/providers/openai/transcribe.js";
import { startFakeTranscription } from "../../support/fakes/models/fake-transcription.js";

const never = new AbortController().signal;

async function recording() {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-"));
  const path = join(folder, "note.ogg");
  await writeFile(path, "OggS sound");
  const file = { path, filename: "note.ogg", mimeType: "audio/ogg" };
  return { file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

test("a recording goes to the server with its model and key, whatever of the address the config names", async () => {
  await using note = await recording();
  await using server = await startFakeTranscription("Buy milk.");
  for (const apiBase of [server.apiBase, server.apiBase.replace("/v1", ""), `${server.apiBase}/audio/transcriptions`])
    assert.equal(await transcribe({ apiBase, apiKey: "sk-1", model: "whisper-1" }, note.file, never), "Buy milk.");
  const [request] = server.requests;
  assert.deepEqual(
    [request?.model, request?.key, request?.bytes.toString()],
    ["whisper-1", "Bearer sk-1", "OggS sound"],
  );
  await transcribe({ apiBase: server.apiBase, model: "whisper-1" }, note.file, never);
  assert.equal(server.requests.at(-1)?.key, "");
});

test("what goes wrong names the server, what it said, and the key in the config", async () => {
  await using note = await recording();
  const server = createServer((request, response) => {
    request.resume();
    const isMoved = request.url?.startsWith("/moved") === true;
    response.writeHead(isMoved ? 307 : 401, isMoved ? { location: "/v1/audio/transcriptions" } : {});
    response.end('{"error":{"message":"Incorrect API key"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const failure = (path: string) =>
    transcribe({ apiBase: `http://127.0.0.1:${port}${path}`, apiKey: "sk-1", model: "whisper-1" }, note.file, never);
  const message = `127.0.0.1:${port} (transcription.apiBase): 401 Incorrect API key`;
  await assert.rejects(failure("/v1"), { message });
  await assert.rejects(failure("/moved/v1"), /: 307 /);
  await new Promise((resolve) => server.close(resolve).closeAllConnections());
  await assert.rejects(
    failure("/v1"),
    /transcription\.apiBase\): nothing listens at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)$/,
  );
});

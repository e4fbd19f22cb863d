import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakeTranscription extends AsyncDisposable {
  readonly apiBase: string;
  readonly requests: readonly { readonly model: string; readonly key: string; readonly bytes: Buffer }[];
}

/** `POST /v1/audio/transcriptions` as OpenAI has it, for a server that always hears the same. */
export async function startFakeTranscription(words: string): Promise<FakeTranscription> {
  const requests: { model: string; key: string; bytes: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.url !== "/v1/audio/transcriptions") return void response.writeHead(404).end();
    const type = request.headers["content-type"] ?? "";
    const form = await new Response(new Uint8Array(Buffer.concat(chunks)), {
      headers: { "content-type": type },
    }).formData();
    const file = form.get("file");
    requests.push({
      model: String(form.get("model")),
      key: request.headers.authorization ?? "",
      bytes: file instanceof Blob ? Buffer.from(await file.arrayBuffer()) : Buffer.alloc(0),
    });
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ text: words }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    apiBase: `http://127.0.0.1:${port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

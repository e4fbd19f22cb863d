import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** When one model call came in and went out, in ms of `performance.now()`. */
export interface ModelCall {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly body: string;
}

export interface FakeModel extends AsyncDisposable {
  readonly apiBase: string;
  /** The newest call, and how many there were. */
  readonly last: ModelCall | undefined;
  readonly count: number;
}

const frames = ["Hello", " there", "!"].map(
  (content) => `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}\n\n`,
);
const end = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":3}}\n\ndata: [DONE]\n\n`;
const answer = frames.join("") + end;

/** An OpenAI-compatible server on loopback that answers at once and always the same. */
export async function startFakeModel(): Promise<FakeModel> {
  const state: { last: ModelCall | undefined; count: number } = { last: undefined, count: 0 };
  const server = createServer((request, response) => {
    const startedAt = performance.now();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(answer);
      state.last = { startedAt, endedAt: performance.now(), body: Buffer.concat(chunks).toString("utf8") };
      state.count += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has an object as its address.
  const { port } = server.address() as AddressInfo;
  return {
    apiBase: `http://127.0.0.1:${port}/v1`,
    get last() {
      return state.last;
    },
    get count() {
      return state.count;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

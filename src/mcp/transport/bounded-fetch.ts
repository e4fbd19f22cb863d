import type { FetchLike } from "@modelcontextprotocol/client";

/** A fetch whose answers cannot fill memory: `maxBytes` for a whole one, and for each event of a stream of events. */
export function boundedFetch(maxBytes: number): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(boundedStream(maxBytes, isStream)), { status, statusText, headers });
  };
}

/** Blank lines end an event. */
const ends = ["\n\n", "\r\n\r\n", "\r\r"];

function boundedStream(maxBytes: number, perEvent: boolean): TransformStream<Uint8Array, Uint8Array> {
  let held = 0;
  let tail = Buffer.alloc(0);
  return new TransformStream({
    transform(chunk, controller) {
      held += chunk.byteLength;
      if (perEvent) {
        const text = Buffer.concat([tail, chunk]);
        const end = Math.max(...ends.map((mark) => endOf(text, mark)));
        if (end !== -1) held = text.length - end;
        tail = text.subarray(-3);
      }
      if (held > maxBytes) {
        controller.error(new Error(`the server sent a message of more than ${Math.round(maxBytes / 1024)} kB`));
        return;
      }
      controller.enqueue(chunk);
    },
  });
}

function endOf(text: Buffer, mark: string): number {
  const at = text.lastIndexOf(mark);
  return at === -1 ? -1 : at + mark.length;
}

import type { GatewayEvent } from "../../../../src/events/event.js";

const retryMs = 10;

export interface EventSource {
  readonly events: readonly GatewayEvent[];
  readonly connections: number;
  close(): void;
}

/** Follows an event stream as a browser does: comes back after each cut, with the id of the last event it got. */
export function followEventSource(url: string): EventSource {
  const events: GatewayEvent[] = [];
  const closing = new AbortController();
  const { signal } = closing;
  let lastId = "";
  let connections = 0;

  const readOnce = async (): Promise<void> => {
    const headers: Record<string, string> = lastId === "" ? {} : { "last-event-id": lastId };
    const response = await fetch(url, { headers, signal });
    connections += 1;
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body ?? []) {
      rest += decoder.decode(chunk, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const id = /^id: (.*)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (id !== undefined) lastId = id;
        if (data !== undefined) events.push(JSON.parse(data));
      }
    }
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await readOnce().catch(() => undefined);
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  };
  void run();
  return {
    events,
    get connections() {
      return connections;
    },
    close: () => closing.abort(),
  };
}

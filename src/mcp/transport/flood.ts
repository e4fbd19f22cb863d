import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/client";

/** Counts what a server says unasked. */
export interface FloodGuard {
  /** A request that the server may answer, once. */
  asked(message: JSONRPCMessage): void;
  /** True while it is no more than somebody could want to hear; undefined is what is not a message at all. */
  isExpected(message: JSONRPCMessage | undefined): boolean;
}

export function createFloodGuard(max: number, windowMs: number): FloodGuard {
  const open = new Set<RequestId>();
  let since = 0;
  let count = 0;
  return {
    asked(message) {
      if ("method" in message && "id" in message) open.add(message.id);
    },
    isExpected(message) {
      if (message !== undefined && !("method" in message) && message.id !== undefined && open.delete(message.id))
        return true;
      const now = performance.now();
      if (now - since > windowMs) {
        since = now;
        count = 0;
      }
      count += 1;
      return count <= max;
    },
  };
}

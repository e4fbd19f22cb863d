import type { SessionStore } from "../../sessions/session-store.js";
import type { KnownFact, MemoryApi } from "./memory-api.js";

interface Facts {
  facts(): Promise<readonly Omit<KnownFact, "hasSession">[]>;
  forget(fact: string): Promise<void>;
}

/** The owner looks at what the assistant keeps about them, and has it forget. */
export function createMemoryOperations(memory: Facts, sessions: Pick<SessionStore, "exists">): MemoryApi {
  return {
    facts: async () =>
      await Promise.all(
        (await memory.facts()).map(async (fact) => {
          const { sessionKey } = fact;
          return { ...fact, hasSession: sessionKey !== undefined && (await sessions.exists(sessionKey)) };
        }),
      ),
    forget: (fact) => memory.forget(fact),
  };
}

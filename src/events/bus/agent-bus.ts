import type { Logger } from "../../log.js";
import type { MachineInput } from "../machines/input.js";

type Listener = (input: MachineInput) => void;

/**
 * One agent's own fast lane: each input before the machines run on it, provider chunks, ends of tools and so on. What only
 * parts of that agent need goes here and not over the system bus. Made with the agent, never handed to anything outside of it.
 */
export interface AgentBus {
  publish(input: MachineInput): void;
  /** A listener that throws is logged and delays nobody. Returns the undo. */
  subscribe(listener: Listener): () => void;
}

export function createAgentBus({ log }: { readonly log: Logger }): AgentBus {
  const listeners = new Set<{ readonly listener: Listener }>();
  return {
    publish(input) {
      for (const one of [...listeners]) {
        if (!listeners.has(one)) continue;
        try {
          one.listener(input);
        } catch (error) {
          log.error("A listener inside the agent failed", { input: input.kind, error });
        }
      }
    },
    subscribe(listener) {
      // Of its own, so that the same function can listen twice.
      const own = { listener };
      listeners.add(own);
      return () => {
        listeners.delete(own);
      };
    },
  };
}

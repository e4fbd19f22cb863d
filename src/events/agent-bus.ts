import type { Logger } from "../log.js";
import type { MachineInput } from "./machines/input.js";
import type { MachineOutputs } from "./machines/run-machines.js";

/** What is told inside one agent. */
export interface AgentTopics {
  /** Each input before the machines run on it: provider chunks, tool ends … */
  readonly input: MachineInput;
  /** What the machines made of it. */
  readonly outputs: { readonly input: MachineInput; readonly outputs: MachineOutputs };
}

export type AgentTopic = keyof AgentTopics;

/** One agent's own fast lane. Made with the agent, never handed to anything outside of it. */
export interface AgentBus {
  publish<T extends AgentTopic>(topic: T, value: AgentTopics[T]): void;
  /** A listener that throws is logged and delays nobody. Returns the undo. */
  subscribe<T extends AgentTopic>(topic: T, listener: (value: AgentTopics[T]) => void): () => void;
}

type Listeners = { readonly [T in AgentTopic]: Set<(value: AgentTopics[T]) => void> };

export function createAgentBus({ log }: { readonly log: Logger }): AgentBus {
  const listeners: Listeners = { input: new Set(), outputs: new Set() };
  return {
    publish(topic, value) {
      if (listeners[topic].size === 0) return;
      for (const listener of [...listeners[topic]]) {
        if (!listeners[topic].has(listener)) continue;
        try {
          listener(value);
        } catch (error) {
          log.error("A listener inside the agent failed", { topic, error });
        }
      }
    },
    subscribe(topic, listener) {
      const own: typeof listener = (value) => listener(value);
      listeners[topic].add(own);
      return () => {
        listeners[topic].delete(own);
      };
    },
  };
}

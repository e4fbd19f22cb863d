import type { Tool } from "./tool.js";

/** Tools that belong together, opened with the gateway. What holds something open is closed with it. */
export interface ToolFamily {
  readonly tools: readonly Tool[];
  /** What is not offered or does less than it could, and what to install. */
  readonly missing?: readonly string[];
  /** What is wrong with its settings, each as one sentence. */
  readonly problems?: readonly string[];
  readonly close?: () => Promise<void>;
}

/** What a family keeps open besides its tools: the sandbox, terminals, browsers. */
export interface EnvironmentChange {
  readonly kind: "sandbox" | "browser" | "terminal";
  readonly id: string;
  readonly from: "starting" | "ready" | "stopped" | "failed";
  readonly to: "starting" | "ready" | "stopped" | "failed";
  readonly detail?: string | undefined;
}

/** What ends, or begins again, for a session. `fresh`: its conversation does, and what others wrote is left behind. */
export type SessionTurn = "completed" | "aborted" | "fresh";

/** The gateway, as families with something open see it. */
export interface Environments {
  /** Writes a change into the session's own log; without a session into the gateway's. */
  logChange(sessionKey: string | undefined, change: EnvironmentChange): void;
  /** Returns the undo. */
  onSession(listener: (sessionKey: string, turn: SessionTurn) => void): () => void;
  /** A session is deleted: `close` before its folders go, `leave` after it. Both are waited for, for a while. */
  onDelete(
    part: string,
    ends: {
      readonly close: (sessionKey: string) => Promise<void>;
      readonly leave?: (sessionKey: string) => Promise<void>;
    },
  ): void;
}

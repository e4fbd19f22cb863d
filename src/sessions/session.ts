import type { ContentPart, Usage } from "../events/content.js";

export interface SessionSummary {
  readonly key: string;
  readonly title?: string;
  readonly messageCount: number;
  /** ISO 8601. */
  readonly lastMessageAt?: string;
  /** At most 200 characters. */
  readonly lastMessage?: string;
  /** The first user text that is not a command, 100 characters. */
  readonly summary?: string;
}

/** One line of a session document, as people read it. */
export interface DocumentMessage {
  readonly role: "user" | "assistant" | "tool" | "system" | "error";
  readonly content: string;
  /** Of an answer with tool calls all parts of its turn; of a person's message with files text and files, and where they are. */
  readonly parts?: readonly ContentPart[];
  readonly timeline?: readonly TimelineEntry[];
  readonly timestamp: string;
  /** Where what others wrote came from: in a message, or in what the model saw when it composed this. */
  readonly outside?: string;
  /** A guest wrote it, or had a say in it. */
  readonly forGuest?: true;
}

export interface TimelineEntry {
  readonly kind: "activity" | "text";
  readonly activity?: { readonly type: string; readonly summary: string; readonly detail?: string };
  readonly text?: string;
}

/** `.sessions/<name>.json`. */
export interface SessionDocument {
  readonly key: string;
  readonly title?: string;
  readonly titleSource?: "auto" | "user";
  readonly titleState?: "pending" | "stable";
  readonly titleUpdatedAt?: string;
  readonly messages: readonly DocumentMessage[];
  readonly metadata: SessionMetadata;
}

export interface SessionMetadata {
  /** One of `sessionStates`. */
  readonly state: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly createdAt: string;
  readonly lastActivity: string;
  /** The first user text that is not a command, 100 characters. */
  readonly summary?: string;
  readonly usage: Usage;
  /** Of the answers whose price is known. */
  readonly costUsd?: number;
  /** Answers whose price nobody knows. */
  readonly unpricedCalls?: number;
  /** Of answers that were cut, beyond what their providers had told. */
  readonly guessedTokens?: number;
  readonly guessedUsd?: number;
  /** The document shows the log up to here. */
  readonly lastSequence: number;
  readonly forkedFrom?: { readonly key: string; readonly seq: number };
}

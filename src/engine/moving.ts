import type { StoredEvent } from "../events/event.js";
import type { DeadLetter, StoredWork } from "./engine.js";

/** A session on its way from one engine to another. */
export interface MovedSession {
  readonly key: string;
  /** Its last deletion: the number that it ended with, and the time of its last event in Unix ms. */
  readonly deleted: { readonly seq: number; readonly time: number } | undefined;
  /** The stored events of its life, in order, some at a time. */
  events(): AsyncIterable<readonly StoredEvent[]>;
}

/** An accepted id: both engines know it by its hash, in 32 hex digits. `at` is Unix ms. */
export interface SeenHash {
  readonly hash: string;
  readonly at: number;
}

/** Everything of an engine that is not in the sessions. */
export interface MovedState {
  readonly cursors: readonly { readonly name: string; readonly value: string }[];
  /** In the order in which they are listed. */
  readonly records: readonly { readonly kind: string; readonly id: string; readonly value: unknown }[];
  readonly leases: readonly { readonly name: string; readonly epoch: number }[];
  /** In the order of accepting. */
  readonly work: readonly { readonly work: StoredWork; readonly crashes: number }[];
  /** Oldest first. */
  readonly dead: readonly DeadLetter[];
}

/** An engine that nobody works with, to be read as a whole. */
export interface EngineSource extends AsyncDisposable {
  /** In no order. */
  sessions(): AsyncIterable<MovedSession>;
  state(): Promise<MovedState>;
  /** The ids of what was accepted in the last seven days. */
  seen(): AsyncIterable<readonly SeenHash[]>;
}

/** An engine that is empty, or holds what an earlier try has brought. */
export interface EngineTarget extends AsyncDisposable {
  /** Takes a session, whatever an earlier try has left of it. Does nothing where that is complete. */
  write(session: MovedSession): Promise<void>;
  /** Forgets a session that an earlier try has brought. */
  remove(key: string): Promise<void>;
  /** What it holds of a session. */
  read(key: string): AsyncIterable<readonly StoredEvent[]>;
  /** The keys of the sessions that it holds. */
  keys(): Promise<readonly string[]>;
  /** Takes the rest, in one step: from now on it can be worked with. */
  finish(state: MovedState, seen: AsyncIterable<readonly SeenHash[]>): Promise<void>;
}

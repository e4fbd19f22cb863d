import type { StoredEvent } from "../../src/events/event.js";

/** Where a child is to end itself: at the nth passing of a point, or at the nth passing of anything. */
export interface Kill {
  /** Without one every point counts. */
  readonly point?: string | undefined;
  readonly nth: number;
  /** With SIGSTOP it stands still there until somebody lets it go on. Default SIGKILL. */
  readonly signal?: "SIGKILL" | "SIGSTOP" | undefined;
}

/** What the engine holds, as its contract shows it. */
export interface Look {
  readonly chats: readonly LookAtChat[];
  /** Ids of buried work. */
  readonly dead: readonly string[];
  /** Texts that a channel keeps until the gateway can take them. */
  readonly parked: readonly string[];
  /** What this process has published: up to where, by session, and what was not the next event of its session. */
  readonly published: Readonly<Record<string, number>>;
  readonly outOfOrder: readonly string[];
}

/** What a process still has to do, as it knows it. */
export interface WorkLeft {
  readonly parked: number;
  /** Sub-agents that have not ended. */
  readonly tasks: number;
  readonly inbound: number;
  readonly outbound: number;
}

export interface LookAtChat {
  readonly key: string;
  /** All of them, read in pages. */
  readonly events: readonly StoredEvent[];
  readonly lastSequence: number;
  /** Ids of accepted messages without an end, and of replies that are not out, oldest first. */
  readonly inbound: readonly string[];
  readonly outbound: readonly string[];
}

/** What a child needs to run a gateway. */
export interface Opening {
  readonly home: string;
  /** File URL of a module that exports {@link EngineUnderTest}'s members. */
  readonly engine: string;
  /** Of the platform that knows repeats, where the world has it. */
  readonly relayUrl?: string | undefined;
  /** Sessions to look at. */
  readonly keys: readonly string[];
  /** File to which the counting tools write each of their runs; without one there are no such tools. */
  readonly runsPath?: string | undefined;
  readonly life: number;
  /** Where it writes its warnings and errors; else in the home. */
  readonly logPath?: string | undefined;
  /** How long a send that failed waits at first; else as long as in the program. */
  readonly sendRetryMs?: number | undefined;
  /** The database of this process, where it is not that of all. */
  readonly database?: string | undefined;
  /** So much its clock is wrong, in ms. */
  readonly skewMs?: number | undefined;
  /** Armed before anything is opened. */
  readonly kill?: Kill | undefined;
}

/** The parent's orders. Each but `goOn` is answered with the same id. */
export type Order =
  | { readonly id: number; readonly order: "open"; readonly opening: Opening }
  /** The engine was looked at before anything works with it: now it may. */
  | { readonly order: "goOn" }
  | { readonly id: number; readonly order: "kill"; readonly kill: Kill }
  | { readonly id: number; readonly order: "look" }
  /** Answered with {@link WorkLeft}. */
  | { readonly id: number; readonly order: "work" }
  /** How often each point was passed since the last kill order. */
  | { readonly id: number; readonly order: "passings" }
  | { readonly id: number; readonly order: "ledger" }
  /** Somebody looks at the list of sessions. Answered with their keys. */
  | { readonly id: number; readonly order: "list" }
  | { readonly id: number; readonly order: "stop"; readonly graceMs: number };

export type Said =
  | { readonly said: "loaded" }
  /** After the engine has opened and before anything works with it. */
  | { readonly said: "found"; readonly look: Look; readonly instanceId: string }
  | { readonly said: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly said: "failed"; readonly id: number; readonly why: string };

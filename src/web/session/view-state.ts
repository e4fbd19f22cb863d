import type { Tone } from "../../client/notices.js";
import type { AgentState } from "../../events/catalogue.js";
import type { Usage } from "../../events/content.js";
import type { OutgoingMessage } from "../outbox/outbox-store.js";

interface ItemBase {
  /** Unique within a view and stable while the item lives. */
  readonly key: string;
  /** ISO 8601. */
  readonly at: string;
  /** The stored event that the item stands for; absent while it is only streamed. */
  readonly seq: number | undefined;
  readonly turnId: string | undefined;
}

/** A file that came with a message. */
export interface SentFile {
  readonly filename: string;
  readonly mimeType: string;
  /** The last part of its path at the gateway. */
  readonly storedAs: string;
}

export interface UserItem extends ItemBase {
  readonly kind: "user";
  readonly messageId: string;
  readonly text: string;
  readonly files: readonly SentFile[];
  /** Named only where more than one person may talk. */
  readonly sender: string | undefined;
  /** `queued`: stored; `taken`: part of the context that the model sees. */
  readonly status: "queued" | "taken";
  /** The event that put it into the context; absent for a command, and before that. */
  readonly contextSeq?: number | undefined;
  /** Its turn began with this event. */
  readonly turnSeq?: number | undefined;
  /** It took the place of another message: what was said before that one ends with this event. */
  readonly beforeSeq?: number | undefined;
}

/** What was used for an answer or a whole turn. */
export interface Spent {
  readonly usage: Usage;
  /** US dollars; absent where the price is not known. */
  readonly costUsd: number | undefined;
}

export interface AssistantItem extends ItemBase {
  readonly kind: "assistant";
  readonly messageId: string;
  readonly text: string;
  readonly thinking: string;
  readonly files: readonly string[];
  readonly isStreaming: boolean;
  /** Cut off by a stop or an error. */
  readonly isPartial: boolean;
  readonly isFinal: boolean;
  /** Absent while it is written, and for what no model wrote. */
  readonly made?: (Spent & { readonly model: string }) | undefined;
  /** Of the turn that it ended. */
  readonly turn?:
    | (Spent & { readonly durationMs: number; readonly calls: number; readonly endSeq: number })
    | undefined;
}

/** `preparing`: the model is still writing the input; `unknown`: the turn ended without a result. */
export type ToolStatus = "preparing" | "running" | "done" | "failed" | "unknown";

export interface ToolItem extends ItemBase {
  readonly kind: "tool";
  readonly callId: string;
  readonly messageId: string | undefined;
  readonly name: string;
  /** JSON, possibly unfinished while the call is prepared. */
  readonly input: string;
  readonly output: string;
  readonly summary: string;
  readonly status: ToolStatus;
  readonly durationMs: number | undefined;
}

export interface NoticeItem extends ItemBase {
  readonly kind: "notice";
  readonly tone: Tone;
  readonly text: string;
  /** Longer text, folded. */
  readonly detail: string | undefined;
  /** Set for a failed turn that can, or could, be tried again. */
  readonly again?: TriedAgain | undefined;
}

/** `waits`: the gateway tries it again by itself; `tried`: it was tried; `over`: something else has come since. */
export interface TriedAgain {
  readonly turnId: string;
  readonly state: "offered" | "waits" | "tried" | "over";
  /** ISO 8601: until when it waits, and when it was tried. */
  readonly until?: string | undefined;
  readonly at?: string | undefined;
}

export interface DividerItem extends ItemBase {
  readonly kind: "divider";
  readonly text: string;
  /** The conversation as it was before is there up to this event. */
  readonly earlierSeq?: number | undefined;
}

export interface PlanItem extends ItemBase {
  readonly kind: "plan";
  readonly goal: string;
  readonly status: string;
  readonly steps: readonly { readonly text: string; readonly status: string }[];
}

/** A file that the assistant gives to the reader. */
export interface FileItem extends ItemBase {
  readonly kind: "file";
  readonly artifactId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number | undefined;
  /** For people. */
  readonly size: string;
  readonly status: "created" | "ready" | "failed";
  readonly error: string | undefined;
}

export type Item = UserItem | AssistantItem | ToolItem | NoticeItem | DividerItem | PlanItem | FileItem;

/** A question of the assistant that waits for an answer. */
export interface OpenQuestion {
  readonly requestId: string;
  readonly kind: "clarification" | "decision" | "env_var" | "permission";
  /** The sub-agent that asks it, by its name. */
  readonly agent?: string | undefined;
  readonly question: string;
  /** What would run, field by field, each value whole. */
  readonly input: readonly { readonly name: string; readonly value: string }[];
  readonly options: readonly {
    readonly id: string;
    readonly label: string;
    readonly description: string | undefined;
    readonly isRecommended: boolean;
  }[];
  readonly allowCustom: boolean;
  /** Names of the secrets that are asked for. */
  readonly fields: readonly string[];
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** A plan that goes on, or waits to. */
export interface OpenPlan {
  readonly goal: string;
  readonly status: "pending" | "running" | "paused";
  readonly steps: readonly { readonly text: string; readonly status: string; readonly result: string | undefined }[];
}

/** Everything that is shown of one session. */
export interface ViewState {
  readonly sessionKey: string;
  readonly title: string | undefined;
  readonly lastSequence: number;
  readonly agentState: AgentState;
  readonly runningTurn: string | undefined;
  readonly question: OpenQuestion | undefined;
  /** The plan after each event that changed it: an undo goes back to an earlier one. */
  readonly plans: readonly { readonly seq: number; readonly plan: OpenPlan | undefined }[];
  readonly items: readonly Item[];
  /** Of the newest event, ISO 8601. */
  readonly lastAt: string | undefined;
}

/** What is known about a session at one moment. */
export interface SessionState {
  readonly view: ViewState;
  readonly isLoading: boolean;
  readonly hasOlder: boolean;
  /** What the gateway does not have yet. */
  readonly pending: readonly OutgoingMessage[];
  /** The question that waits for the reader: the session's own, else one of its sub-agents'. */
  readonly question: OpenQuestion | undefined;
}

export function emptyView(sessionKey: string): ViewState {
  return {
    sessionKey,
    title: undefined,
    lastSequence: 0,
    agentState: "idle",
    runningTurn: undefined,
    question: undefined,
    plans: [],
    items: [],
    lastAt: undefined,
  };
}

/** True from the start of a turn to its end. */
export function isWorking(state: ViewState): boolean {
  return state.runningTurn !== undefined || (state.agentState !== "idle" && state.agentState !== "error");
}

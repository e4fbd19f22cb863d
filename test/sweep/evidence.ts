import type { StoredEvent } from "../../src/events/event.js";
import type { LookAtChat } from "./protocol.js";
import type { ToolRun } from "./world/tools.js";

/** All that is known about one chat from outside and from the engine. */
export interface ChatEvidence {
  readonly look: LookAtChat;
  /** As its messages' markers name it. */
  readonly name: string;
  /** `client`: people read the events themselves. `ids`: the platform tells repeats. `blind`: it cannot. */
  readonly platform: "client" | "ids" | "blind";
  /** What the person wrote, oldest first. */
  readonly said: readonly string[];
  /** What the person was shown, oldest first. */
  readonly shown: readonly string[];
}

/** A request that reached the model. */
export interface AskedInLife {
  readonly chat: string;
  /** Which answer of the chat, from 1. */
  readonly answer: number;
  readonly life: number;
  readonly results: ReadonlyMap<string, string>;
  /** Another request of this chat and life was still open. */
  readonly overlaps: boolean;
}

/** What one world has left behind when everything is quiet. */
export interface Evidence {
  readonly chats: readonly ChatEvidence[];
  /** Instance ids of the engine in the order of their lives; a life that died while opening has none. */
  readonly lives: readonly (string | undefined)[];
  readonly asked: readonly AskedInLife[];
  readonly runs: readonly ToolRun[];
  /** How each message ended, by the gateway's own account. */
  readonly ledger: ReadonlyMap<string, string>;
}

type Ended = "turn_execution_complete" | "turn_execution_failed" | "turn_execution_cancelled";
export type EndEvent = Extract<StoredEvent, { readonly type: Ended }>;

export function endsOf(events: readonly StoredEvent[]): readonly EndEvent[] {
  return events.filter(
    (event): event is EndEvent =>
      event.type === "turn_execution_complete" ||
      event.type === "turn_execution_failed" ||
      event.type === "turn_execution_cancelled",
  );
}

export interface AcceptedMessage {
  readonly id: string;
  readonly text: string;
  /** A sub-agent's result, which nobody has written. */
  readonly isResult: boolean;
}

export function acceptedIn(events: readonly StoredEvent[]): readonly AcceptedMessage[] {
  return events.flatMap((event) =>
    event.type === "user_message_queued"
      ? [
          {
            id: event.payload.message_id,
            text: event.payload.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
            isResult: event.payload.result_of !== undefined,
          },
        ]
      : [],
  );
}

/** A platform message of a reply, with what happened to it. */
export interface Reply {
  readonly id: string;
  readonly turnId: string | undefined;
  readonly content: string;
  /** In order, without `queued`. */
  readonly story: readonly { readonly status: string; readonly mayRepeat: boolean }[];
}

export function repliesIn(events: readonly StoredEvent[]): readonly Reply[] {
  const replies = new Map<string, Reply & { readonly story: { status: string; mayRepeat: boolean }[] }>();
  for (const event of events) {
    if (event.type !== "outbound_delivery_changed") continue;
    const { outbound_id: id, status, content = "", maybe_duplicate: mayRepeat = false } = event.payload;
    if (status === "queued") replies.set(id, { id, turnId: event.turn_id, content, story: [] });
    else replies.get(id)?.story.push({ status, mayRepeat });
  }
  return [...replies.values()];
}

/** The number of the life that has stored it. */
export function lifeOf(event: StoredEvent, { lives }: Evidence): number {
  return lives.indexOf(event.metadata.instance_id) + 1;
}

import type { Client } from "../../client/client.js";
import type { GatewayEvent } from "../../events/event.js";
import { questionOf } from "./view-parts.js";
import type { OpenQuestion } from "./view-state.js";

/** What the sub-agents of a session ask, and theirs: they work in sessions of their own, and their questions are for this reader. */
export interface ChildQuestions {
  /** Events of the session, in order. */
  take(events: readonly GatewayEvent[]): void;
  /** The oldest one that is open. */
  readonly first: OpenQuestion | undefined;
  /** The session that asks it. */
  sessionOf(requestId: string): string | undefined;
  close(): void;
}

interface Child {
  readonly label: string;
  readonly unsubscribe: () => void;
  question: OpenQuestion | undefined;
}

export function followChildren(client: Pick<Client, "subscribe">, onChange: () => void): ChildQuestions {
  const children = new Map<string, Child>();

  function take(events: readonly GatewayEvent[]): void {
    const states = new Map<string, { readonly label: string; readonly isOpen: boolean }>();
    for (const event of events) {
      if (event.type !== "subagent_state_changed") continue;
      const { child_session_key, label, to } = event.payload;
      states.set(child_session_key, { label, isOpen: to === "pending" || to === "running" });
    }
    for (const [key, { label, isOpen }] of states) {
      if (isOpen && !children.has(key)) follow(key, label);
      else if (!isOpen) leave(key);
    }
  }

  function follow(key: string, label: string): void {
    const unsubscribe = client.subscribe(key, (event) => onEvent(key, event), { fromSequence: 0 });
    children.set(key, { label, unsubscribe, question: undefined });
  }

  function leave(key: string): void {
    const child = children.get(key);
    if (child === undefined) return;
    child.unsubscribe();
    children.delete(key);
    if (child.question !== undefined) onChange();
  }

  function onEvent(key: string, event: GatewayEvent): void {
    const child = children.get(key);
    if (child === undefined) return;
    take([event]);
    if (event.type === "human_input_asked") {
      child.question = { ...questionOf(event.payload), agent: child.label };
    } else if (event.type === "human_input_answered" || isEnd(event)) child.question = undefined;
    else return;
    onChange();
  }

  const asking = (): readonly (readonly [string, OpenQuestion])[] =>
    [...children].flatMap(([key, { question }]) => (question === undefined ? [] : [[key, question] as const]));

  return {
    take,
    get first() {
      return asking()[0]?.[1];
    },
    sessionOf: (requestId) => asking().find(([, question]) => question.requestId === requestId)?.[0],
    close() {
      for (const { unsubscribe } of children.values()) unsubscribe();
      children.clear();
    },
  };
}

function isEnd({ type }: GatewayEvent): boolean {
  return type.startsWith("turn_execution_") && type !== "turn_execution_start";
}

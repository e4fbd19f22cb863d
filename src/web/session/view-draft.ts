import type { Item, ViewState } from "./view-state.js";

/** A private copy of a view that one batch of events is worked into. Items themselves are replaced, never changed. */
export interface Draft {
  readonly sessionKey: string;
  title: ViewState["title"];
  lastSequence: number;
  agentState: ViewState["agentState"];
  runningTurn: ViewState["runningTurn"];
  question: ViewState["question"];
  plans: ViewState["plans"];
  lastAt: ViewState["lastAt"];
  readonly items: (Item | undefined)[];
  /** Where the items are, by their key and by the names under which they are looked for. */
  readonly indexes: Map<string, number>;
}

export function draftOf(state: ViewState): Draft {
  const indexes = new Map<string, number>();
  for (const [index, item] of state.items.entries()) {
    indexes.set(item.key, index);
    if (item.kind === "tool") indexes.set(`tool:${item.turnId ?? ""}:${item.callId}`, index);
  }
  return { ...state, items: [...state.items], indexes };
}

export function finish(draft: Draft): ViewState {
  const { sessionKey, title, lastSequence, agentState, runningTurn, question, plans, lastAt } = draft;
  const items = draft.items.filter((item) => item !== undefined);
  return { sessionKey, title, lastSequence, agentState, runningTurn, question, plans, lastAt, items };
}

export function findItem(draft: Draft, name: string): Item | undefined {
  const index = draft.indexes.get(name);
  return index === undefined ? undefined : draft.items[index];
}

export function addItem<T extends Item>(draft: Draft, item: T, name: string = item.key): T {
  draft.indexes.set(item.key, draft.items.length);
  draft.indexes.set(name, draft.items.length);
  draft.items.push(item);
  return item;
}

export function putItem(draft: Draft, item: Item): void {
  const index = draft.indexes.get(item.key);
  if (index !== undefined && draft.items[index] !== undefined) draft.items[index] = item;
}

export function removeItems(draft: Draft, isUnwanted: (item: Item) => boolean): void {
  for (const [index, item] of draft.items.entries()) {
    if (item !== undefined && isUnwanted(item)) draft.items[index] = undefined;
  }
}

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
  pending: ViewState["pending"];
  readonly items: (Item | undefined)[];
  /** Where the items are, by their key and by the names under which they are looked for. */
  readonly places: Map<string, number>;
}

export function draftOf(state: ViewState): Draft {
  const places = new Map<string, number>();
  for (const [place, item] of state.items.entries()) {
    places.set(item.key, place);
    if (item.kind === "tool") places.set(`tool:${item.turnId ?? ""}:${item.callId}`, place);
  }
  return { ...state, items: [...state.items], places };
}

export function finish(draft: Draft): ViewState {
  const { sessionKey, title, lastSequence, agentState, runningTurn, question, plans, pending } = draft;
  const items = draft.items.filter((item) => item !== undefined);
  return { sessionKey, title, lastSequence, agentState, runningTurn, question, plans, pending, items };
}

export function findItem(draft: Draft, name: string): Item | undefined {
  const place = draft.places.get(name);
  return place === undefined ? undefined : draft.items[place];
}

export function addItem<T extends Item>(draft: Draft, item: T, name: string = item.key): T {
  draft.places.set(item.key, draft.items.length);
  draft.places.set(name, draft.items.length);
  draft.items.push(item);
  return item;
}

export function putItem(draft: Draft, item: Item): void {
  const place = draft.places.get(item.key);
  if (place !== undefined && draft.items[place] !== undefined) draft.items[place] = item;
}

export function removeItems(draft: Draft, isUnwanted: (item: Item) => boolean): void {
  for (const [place, item] of draft.items.entries()) {
    if (item !== undefined && isUnwanted(item)) draft.items[place] = undefined;
  }
}

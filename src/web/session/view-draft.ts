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
  /** Where those items are that are still streamed or at work: a long chat has thousands of others. */
  readonly unsettled: Set<number>;
  /** Where the lines of failed turns are that can, or could, be tried again. */
  readonly failures: Set<number>;
}

export function draftOf(state: ViewState): Draft {
  const indexes = new Map<string, number>();
  const draft: Draft = { ...state, items: [...state.items], indexes, unsettled: new Set(), failures: new Set() };
  for (const [index, item] of state.items.entries()) {
    for (const name of namesOf(item)) indexes.set(name, index);
    place(draft, index, item);
  }
  return draft;
}

function isSettled(item: Item): boolean {
  if (item.kind === "tool" && (item.status === "running" || item.status === "preparing")) return false;
  return (item.kind !== "assistant" && item.kind !== "tool") || item.seq !== undefined;
}

/** Those that are still streamed or at work, in their order. */
export function unsettledItems(draft: Draft): readonly Item[] {
  const places = [...draft.unsettled].sort((a, b) => a - b);
  return places.map((index) => draft.items[index]).filter((item) => item !== undefined);
}

function place(draft: Draft, index: number, item: Item | undefined): void {
  draft.items[index] = item;
  if (item === undefined || isSettled(item)) draft.unsettled.delete(index);
  else draft.unsettled.add(index);
  if (item?.kind === "notice" && item.again !== undefined) draft.failures.add(index);
  else draft.failures.delete(index);
}

/** The names under which an item is looked for. */
function namesOf(item: Item): readonly string[] {
  return item.kind === "tool" ? [item.key, `tool:${item.turnId ?? ""}:${item.callId}`] : [item.key];
}

/** What is in the log comes in the order of the log, then what is only streamed so far, then what waits for its turn. */
export function finish(draft: Draft): ViewState {
  const { sessionKey, title, lastSequence, agentState, runningTurn, question, plans, lastAt } = draft;
  const all = draft.items.filter((item) => item !== undefined);
  const ranks = all.map(rankOf);
  const isInOrder = ranks.every((rank, index) => index === 0 || rank >= (ranks[index - 1] ?? 0));
  const items = isInOrder ? all : [0, 1, 2].flatMap((rank) => all.filter((_, index) => ranks[index] === rank));
  return { sessionKey, title, lastSequence, agentState, runningTurn, question, plans, lastAt, items };
}

export function findItem(draft: Draft, name: string): Item | undefined {
  const index = draft.indexes.get(name);
  return index === undefined ? undefined : draft.items[index];
}

export function addItem<T extends Item>(draft: Draft, item: T, name: string = item.key): T {
  draft.indexes.set(item.key, draft.items.length);
  draft.indexes.set(name, draft.items.length);
  place(draft, draft.items.length, item);
  return item;
}

/** In its place; one that comes into the log now is where the log has it. */
export function putItem(draft: Draft, item: Item): void {
  const index = draft.indexes.get(item.key);
  const old = index === undefined ? undefined : draft.items[index];
  if (index === undefined || old === undefined) return;
  if (old.seq === undefined && item.seq !== undefined) moveItem(draft, item);
  else place(draft, index, item);
}

/** Takes an item to the end of what there is. */
export function moveItem(draft: Draft, item: Item): void {
  const index = draft.indexes.get(item.key);
  if (index === undefined) return;
  place(draft, index, undefined);
  // An older call of the same id keeps its own place.
  for (const name of namesOf(item)) if (draft.indexes.get(name) === index) draft.indexes.set(name, draft.items.length);
  place(draft, draft.items.length, item);
}

function rankOf(item: Item): number {
  if (item.kind === "user" && item.status === "queued") return 2;
  return item.seq === undefined ? 1 : 0;
}

export function removeItems(draft: Draft, isUnwanted: (item: Item) => boolean): void {
  for (const [index, item] of draft.items.entries()) {
    if (item !== undefined && isUnwanted(item)) place(draft, index, undefined);
  }
}

/** The same among what is still streamed or at work. */
export function removeUnsettled(draft: Draft, isUnwanted: (item: Item) => boolean): void {
  for (const index of [...draft.unsettled]) {
    const item = draft.items[index];
    if (item !== undefined && isUnwanted(item)) place(draft, index, undefined);
  }
}

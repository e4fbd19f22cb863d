import type { MatrixStore, StoredEvent } from "./store.js";

interface Filter {
  readonly room?: {
    readonly state?: { readonly lazy_load_members?: boolean };
    readonly timeline?: { readonly limit?: number; readonly types?: readonly string[] };
  };
}

/** `s12` is 12; undefined for what is not a token of this homeserver. */
export function atOf(token: string): number | undefined {
  return /^s\d+$/.test(token) ? Number(token.slice(1)) : undefined;
}

export function isWanted(event: StoredEvent, types: readonly string[] | undefined): boolean {
  return types === undefined || types.includes(event.type);
}

/** One answer of `/sync` for the bot; undefined: there is nothing new. */
export function syncAnswer(
  store: MatrixStore,
  botId: string,
  since: number | undefined,
  filter: Filter,
): object | undefined {
  const { limit = 10, types } = filter.room?.timeline ?? {};
  const join: Record<string, object> = {};
  const invite: Record<string, object> = {};
  const leave: Record<string, object> = {};
  for (const room of store.rooms) {
    const news = room.events.filter(({ at }) => at > (since ?? 0));
    const membership = room.members.get(botId)?.membership;
    const own = news.find(({ event }) => event.type === "m.room.member" && event.state_key === botId);
    if (since !== undefined && news.length === 0) continue;
    if (membership === "invite" && own !== undefined) invite[room.id] = { invite_state: { events: [own.event] } };
    if (membership === "leave" && own !== undefined) leave[room.id] = { timeline: { events: [own.event] } };
    if (membership !== "join") continue;
    // A room that the bot has just come into is told about from its beginning, as far as there is room.
    const isNew = since === undefined || own?.event.content.membership === "join";
    const all = (isNew ? room.events : news).filter(({ event }) => isWanted(event, types));
    const shown = all.slice(-limit);
    const senders = new Set(shown.map(({ event }) => event.sender));
    const state = room.events
      .map(({ event }) => event)
      .filter(({ type, state_key: key }) =>
        type === "m.room.member" ? key !== undefined && senders.has(key) : isNew && key !== undefined,
      );
    join[room.id] = {
      state: { events: state },
      timeline: {
        events: shown.map(({ event }) => event),
        limited: shown.length < all.length,
        prev_batch: `s${(shown[0]?.at ?? store.count + 1) - 1}`,
      },
    };
  }
  const isEmpty = [join, invite, leave].every((part) => Object.keys(part).length === 0);
  return isEmpty && since !== undefined ? undefined : { next_batch: `s${store.count}`, rooms: { join, invite, leave } };
}

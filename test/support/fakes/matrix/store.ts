/** An event as a homeserver keeps it. */
export interface StoredEvent {
  readonly type: string;
  readonly event_id: string;
  readonly room_id: string;
  readonly sender: string;
  readonly origin_server_ts: number;
  readonly state_key?: string;
  content: Record<string, unknown>;
  redacts?: string;
  unsigned?: Record<string, unknown>;
}

export type NewEvent = Pick<StoredEvent, "type" | "sender" | "content"> &
  Partial<Pick<StoredEvent, "state_key" | "redacts" | "origin_server_ts">>;

interface Room {
  readonly id: string;
  readonly members: Map<string, { membership: string; displayname?: string }>;
  readonly events: { readonly at: number; readonly event: StoredEvent }[];
}

/** Rooms with all that has happened in them. Tokens are `s` and how many events there were. */
export class MatrixStore {
  readonly #rooms = new Map<string, Room>();
  readonly #waiting = new Set<() => void>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  room(id: string): Room | undefined {
    return this.#rooms.get(id);
  }

  get rooms(): readonly Room[] {
    return [...this.#rooms.values()];
  }

  create(id: string): void {
    this.#rooms.set(id, { id, members: new Map(), events: [] });
  }

  add(roomId: string, event: NewEvent): StoredEvent {
    const room = this.#rooms.get(roomId);
    if (room === undefined) throw new Error(`There is no room ${roomId}`);
    this.#count += 1;
    const stored: StoredEvent = {
      event_id: `$event${this.#count}`,
      room_id: roomId,
      origin_server_ts: Date.now(),
      ...event,
    };
    room.events.push({ at: this.#count, event: stored });
    if (event.type === "m.room.member" && event.state_key !== undefined) {
      const { membership, displayname } = event.content;
      room.members.set(event.state_key, {
        membership: String(membership),
        ...(typeof displayname === "string" ? { displayname } : {}),
      });
    }
    this.wake();
    return stored;
  }

  /** Something has happened outside rooms. Gives its place. */
  bump(): number {
    this.#count += 1;
    this.wake();
    return this.#count;
  }

  find(roomId: string, eventId: string): StoredEvent | undefined {
    return this.#rooms.get(roomId)?.events.find(({ event }) => event.event_id === eventId)?.event;
  }

  membership(roomId: string, userId: string): string | undefined {
    return this.#rooms.get(roomId)?.members.get(userId)?.membership;
  }

  /** Lets everybody who waits for something new look again. */
  wake(): void {
    for (const look of this.#waiting) look();
  }

  /** Resolves when something has happened, or `signal` aborts, or after `ms`. */
  async change(ms: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}

import type { Client } from "../../client/client.js";
import { ClientError } from "../../client/client-error.js";
import { isRecord } from "../../client/frames.js";
import type { GatewayEvent } from "../../events/event.js";
import type { GatewayHttp } from "../gateway/gateway-http.js";
import { isPassing, type Outbox } from "../outbox/outbox.js";
import { type ChildQuestions, followChildren } from "./child-questions.js";
import { SessionEvents } from "./session-events.js";
import type { SessionState } from "./view-state.js";

interface SessionOptions {
  readonly key: string;
  /** A chat that begins here; the gateway does not know it before its first message. */
  readonly isNew: boolean;
  readonly outbox: Pick<Outbox, "of" | "drop">;
  readonly client: Client;
  readonly http: Pick<GatewayHttp, "events" | "file">;
  /** Called at most once per animation frame. */
  onChange(): void;
  /** Each event that is new to the reader, not those of the past. */
  onLive(event: GatewayEvent): void;
  /** Somebody has deleted it while the connection was away. */
  onGone(): void;
  onFailure(error: unknown): void;
}

/** By an option's id or in one's own words, or the values of secrets. */
export interface QuestionReply {
  readonly answer?: string;
  readonly values?: Readonly<Record<string, string>>;
}

const pageSize = 400;
/** The gateway gives no more at once. */
const mostEvents = 10_000;

/** One session as the page follows it: its past by pages, then its events as they come. */
export class Session {
  readonly key: string;
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  readonly #children: ChildQuestions;
  #oldest = 0;
  #isLoading = false;
  #loading = Promise.resolve();
  #isKnown: boolean;
  #isClosed = false;
  #creation: Promise<void> | undefined;
  #unsubscribe: (() => void) | undefined;
  #frame: { cancel(): void } | undefined;

  constructor(options: SessionOptions) {
    const { key, client } = options;
    this.key = key;
    this.#options = options;
    this.#events = new SessionEvents(key);
    this.#children = followChildren(client, () => this.#changed());
    this.#isKnown = !options.isNew;
    this.resume();
  }

  get state(): SessionState {
    const { view } = this.#events;
    const question = view.question ?? this.#children.first;
    const known = new Set(view.items.map((item) => (item.kind === "user" ? item.messageId : "")));
    const pending = this.#options.outbox.of(this.key).filter(({ messageId }) => !known.has(messageId));
    return { view, isLoading: this.#isLoading, hasOlder: this.#oldest > 0, pending, question };
  }

  loadOlder(): void {
    this.#whileLoading(() => this.#loadOlder());
  }

  /** Loads older events until this one is there. */
  async loadTo(seq: number): Promise<void> {
    this.#loadOnce();
    await this.#loading;
    while (this.#oldest >= seq && this.#oldest > 0 && !this.#isClosed) {
      const before = this.#oldest;
      this.loadOlder();
      await this.#loading;
      if (this.#oldest === before) return;
    }
  }

  loadFile(path: string): Promise<Blob> {
    return this.#options.http.file(this.key, path);
  }

  /** Rejects with the reason when the answer does not count. */
  async answer(requestId: string, reply: QuestionReply): Promise<void> {
    const session_key = this.#children.sessionOf(requestId) ?? this.key;
    await this.#options.client.command("human_input_reply", { session_key, request_id: requestId, ...reply });
  }

  /** A chat of its own with all that was said up to this event. Resolves with its key. */
  async branch(at: number): Promise<string> {
    const data = await this.#options.client.command("session_fork", { session_key: this.key, at });
    const { session_key: key } = isRecord(data) ? data : {};
    if (typeof key !== "string") throw new Error("The gateway's answer has no session_key.");
    return key;
  }

  stop(): void {
    this.#options.client.cancelTurn(this.key).catch(this.#options.onFailure);
  }

  /** Rejects with the reason when it cannot be tried again. */
  async retryTurn(turnId: string): Promise<void> {
    await this.#options.client.retryTurn({ sessionKey: this.key, turnId });
  }

  /** The connection is back. */
  resume(): void {
    this.#loadOnce();
    if (this.#unsubscribe !== undefined) void this.#findEnd();
  }

  /** Somebody has deleted it: nothing of it stays, and what is written next begins it again. */
  end(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#isKnown = false;
    this.#oldest = 0;
    this.#children.close();
    this.#events.end();
    this.#changed();
  }

  /** Somebody has written in it elsewhere after it was deleted. */
  beginAgain(): void {
    this.#isKnown = true;
    this.#loadOnce();
  }

  /** What waits to be sent is another. */
  refresh(): void {
    this.#changed();
  }

  close(): void {
    this.#isClosed = true;
    this.#children.close();
    this.#frame?.cancel();
    this.#unsubscribe?.();
  }

  #changed(): void {
    this.#frame ??= nextFrame(() => {
      this.#frame = undefined;
      this.#events.settle();
      this.#options.onChange();
    });
  }

  #follow(fromSequence: number): void {
    const onEvent = (event: GatewayEvent): void => {
      this.#events.add(event);
      if (event.type === "user_message_queued") this.#options.outbox.drop(event.payload.message_id);
      this.#children.take([event]);
      this.#changed();
      this.#options.onLive(event);
    };
    // What the gateway has lost in a power cut must go from the page too.
    const onRewind = (): void => {
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
      void this.#loading.then(() => this.#whileLoading(() => this.#load()));
    };
    this.#unsubscribe?.();
    this.#unsubscribe = this.#options.client.subscribe(this.key, onEvent, { fromSequence, onRewind });
  }

  async #findEnd(): Promise<void> {
    const { client, onGone } = this.#options;
    // The next connection looks again.
    const isGone = (await lastSequenceOf(client, this.key).catch(() => 0)) === undefined;
    if (isGone && !this.#isClosed) onGone();
  }

  #loadOnce(): void {
    if (this.#isKnown && this.#unsubscribe === undefined) this.#whileLoading(() => this.#load());
  }

  async #load(): Promise<void> {
    const { client, http } = this.#options;
    const last = await lastSequenceOf(client, this.key);
    if (this.#isClosed) return;
    if (last === undefined) {
      this.#isKnown = false;
      return;
    }
    this.#oldest = Math.max(0, last - pageSize);
    const events = last === 0 ? [] : await http.events(this.key, this.#oldest, pageSize);
    if (this.#isClosed) return;
    this.#events.replace(events);
    for (const event of events)
      if (event.type === "user_message_queued") this.#options.outbox.drop(event.payload.message_id);
    this.#children.take(events);
    this.#follow(Math.max(this.#oldest, this.#events.view.lastSequence));
  }

  async #loadOlder(): Promise<void> {
    const end = this.#oldest;
    // Each page is worked into all that is there: the longer the chat, the fewer pages.
    const from = Math.max(0, end - Math.min(mostEvents, Math.max(pageSize, this.#events.length)));
    const events = await this.#options.http.events(this.key, from, end - from);
    if (this.#isClosed || this.#oldest !== end) return;
    this.#oldest = from;
    this.#events.prepend(events, end);
  }

  #whileLoading(work: () => Promise<void>): void {
    if (this.#isLoading) return;
    this.#isLoading = true;
    this.#changed();
    this.#loading = work()
      .catch((error: unknown) => {
        if (!this.#isClosed && !isPassing(error)) this.#options.onFailure(error);
      })
      .finally(() => {
        this.#isLoading = false;
        if (!this.#isClosed) this.#changed();
      });
  }

  /** Before a message can go: only after loading is it known whether the session exists and who follows it. */
  async ready(): Promise<void> {
    this.#loadOnce();
    await this.#loading;
    if (this.#isKnown) return;
    this.#creation ??= this.#create().finally(() => {
      this.#creation = undefined;
    });
    await this.#creation;
  }

  async #create(): Promise<void> {
    await this.#options.client.openSession({ sessionKey: this.key });
    this.#isKnown = true;
    if (this.#isClosed || this.#unsubscribe !== undefined) return;
    this.#events.replace([]);
    this.#follow(0);
  }
}

/** `undefined`: the gateway does not know the session. */
export async function lastSequenceOf(client: Client, key: string): Promise<number | undefined> {
  try {
    return (await client.sessionStatus(key)).lastSequence;
  } catch (error) {
    if (error instanceof ClientError && error.code.toLowerCase() === "not_found") return undefined;
    throw error;
  }
}

/** Runs before the next repaint; a hidden page has none, and works on at a slower pace. */
function nextFrame(run: () => void): { cancel(): void } {
  if (document.hidden) {
    const timer = setTimeout(run, 200);
    return { cancel: () => clearTimeout(timer) };
  }
  const handle = requestAnimationFrame(run);
  return { cancel: () => cancelAnimationFrame(handle) };
}

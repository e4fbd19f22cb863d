import type { Client } from "../../client/client.js";
import { ClientError } from "../../client/client-error.js";
import { newMessageId } from "../../client/commands.js";
import type { UploadedFile } from "../../client/upload.js";
import type { GatewayEvent } from "../../events/event.js";
import type { GatewayHttp } from "../gateway/gateway-http.js";
import { followChildren } from "./child-questions.js";
import { addPending, applyEvents, dropPending, failPending } from "./view-model.js";
import { emptyView, type OpenQuestion, type PendingMessage, type SendMode, type ViewState } from "./view-state.js";

interface SessionViewOptions {
  readonly key: string;
  /** A chat that begins here; the gateway does not know it before its first message. */
  readonly isNew: boolean;
  /** What was not confirmed when this session was last left; it is sent again. */
  readonly pending: readonly PendingMessage[];
  readonly client: Client;
  readonly http: GatewayHttp;
  /** Called at most once per animation frame. */
  onChange(): void;
  /** Each event that is new to the reader, not those of the past. */
  onLive(event: GatewayEvent): void;
  onFailure(error: unknown): void;
}

/** One session as the page follows it: its past by pages, then its events as they come. */
export interface SessionView {
  readonly key: string;
  readonly view: ViewState;
  readonly isLoading: boolean;
  readonly hasOlder: boolean;
  /** The question that waits for the reader: the session's own, else one of its sub-agents'. */
  readonly question: OpenQuestion | undefined;
  loadOlder(): void;
  loadFile(artifactId: string): Promise<Blob>;
  send(text: string, mode: SendMode, files?: readonly UploadedFile[]): void;
  /** Rejects with the reason when the answer does not count. */
  answer(requestId: string, reply: QuestionReply): Promise<void>;
  retry(message: PendingMessage): void;
  drop(message: PendingMessage): void;
  stop(): void;
  /** The connection is back: what was not confirmed is sent again. */
  resume(): void;
  close(): void;
}

/** By an option's id or in one's own words, or the values of secrets. */
export interface QuestionReply {
  readonly answer?: string;
  readonly values?: Readonly<Record<string, string>>;
}

const pageSize = 400;

export function openSessionView(options: SessionViewOptions): SessionView {
  const { key, client, http } = options;
  let view: ViewState = { ...emptyView(key), pending: options.pending };
  /** What the view was made from, without the deltas of finished turns, to make it again when older events are loaded. */
  let log: GatewayEvent[] = [];
  let queue: GatewayEvent[] = [];
  let oldest = 0;
  let isLoading = false;
  let loading = Promise.resolve();
  let isKnown = !options.isNew;
  let isClosed = false;
  let creation: Promise<unknown> | undefined;
  const children = followChildren(client, changed);
  const delivering = new Set<string>();
  let unsubscribe: (() => void) | undefined;
  let frame: { cancel(): void } | undefined;

  function changed(): void {
    frame ??= nextFrame(() => {
      frame = undefined;
      if (queue.length > 0) {
        view = applyEvents(view, queue);
        queue = [];
      }
      options.onChange();
    });
  }

  function follow(fromSequence: number): void {
    const onEvent = (event: GatewayEvent): void => {
      log.push(event);
      if (event.type.startsWith("turn_execution_") && event.type !== "turn_execution_start") {
        log = log.filter(({ seq }) => seq !== null);
      }
      queue.push(event);
      children.take([event]);
      changed();
      options.onLive(event);
    };
    // What the gateway has lost in a power cut must go from the page too.
    const onRewind = (): void => {
      unsubscribe?.();
      unsubscribe = undefined;
      void loading.then(() => whileLoading(load));
    };
    unsubscribe = client.subscribe(key, onEvent, { fromSequence, onRewind });
  }

  async function load(): Promise<void> {
    const last = await lastSequenceOf(client, key);
    if (isClosed) return;
    if (last === undefined) {
      isKnown = false;
      return;
    }
    oldest = Math.max(0, last - pageSize);
    log = last === 0 ? [] : [...(await http.events(key, oldest, pageSize))];
    if (isClosed) return;
    queue = [];
    view = { ...applyEvents(emptyView(key), log), pending: view.pending };
    children.take(log);
    follow(Math.max(oldest, view.lastSequence));
  }

  async function loadOlder(): Promise<void> {
    const end = oldest;
    const from = Math.max(0, end - pageSize);
    const page = await http.events(key, from, end - from);
    if (isClosed || oldest !== end) return;
    log = [...page.filter(({ seq }) => seq !== null && seq <= end), ...log];
    oldest = from;
    queue = [];
    const pending = view.pending;
    view = applyEvents({ ...emptyView(key), pending }, log);
  }

  function whileLoading(work: () => Promise<void>): void {
    if (isLoading) return;
    isLoading = true;
    changed();
    loading = work()
      .catch((error: unknown) => {
        if (!isClosed && !isPassing(error)) options.onFailure(error);
      })
      .finally(() => {
        isLoading = false;
        if (!isClosed) changed();
      });
  }

  async function deliver(message: Omit<PendingMessage, "error">): Promise<void> {
    view = addPending(view, message);
    changed();
    delivering.add(message.messageId);
    try {
      // Only then is it known whether the session exists and who follows it.
      if (isKnown && unsubscribe === undefined) whileLoading(load);
      await loading;
      if (!isKnown) {
        creation ??= client.openSession({ sessionKey: key });
        await creation;
        isKnown = true;
        if (!isClosed && unsubscribe === undefined) follow(0);
      }
      const { text, messageId, mode, files } = message;
      await client.sendMessage({ sessionKey: key, content: text, messageId, mode, attachments: files });
    } catch (error) {
      creation = undefined;
      // Nobody knows whether it arrived: it stays on its way and is sent again, under the same id, by `resume`.
      if (isPassing(error) && client.state !== "open") return;
      view = failPending(view, message.messageId, error instanceof Error ? error.message : String(error));
      changed();
    } finally {
      delivering.delete(message.messageId);
    }
  }

  function resend(): void {
    for (const message of view.pending)
      if (message.error === undefined && !delivering.has(message.messageId)) void deliver(message);
  }

  if (isKnown) whileLoading(load);
  resend();

  return {
    key,
    get view() {
      return view;
    },
    get isLoading() {
      return isLoading;
    },
    get hasOlder() {
      return oldest > 0;
    },
    get question() {
      return view.question ?? children.first;
    },
    loadOlder: () => whileLoading(loadOlder),
    loadFile: (artifactId) => http.file(key, artifactId),
    send(text, mode, files = []) {
      void deliver({ messageId: newMessageId(), text, mode, files, at: new Date().toISOString() });
    },
    async answer(requestId, reply) {
      await client.command("human_input_reply", {
        session_key: children.sessionOf(requestId) ?? key,
        request_id: requestId,
        ...reply,
      });
    },
    retry: (message) => void deliver(message),
    drop(message) {
      view = dropPending(view, message.messageId);
      changed();
    },
    stop() {
      client.cancelTurn(key).catch(options.onFailure);
    },
    resume() {
      if (isKnown && unsubscribe === undefined) whileLoading(load);
      resend();
    },
    close() {
      isClosed = true;
      children.close();
      frame?.cancel();
      unsubscribe?.();
    },
  };
}

/** True where the same thing is tried again once the connection is back. */
function isPassing(error: unknown): boolean {
  return error instanceof ClientError && (error.kind === "lost" || error.kind === "timeout" || error.kind === "closed");
}

/** `undefined`: the gateway does not know the session. */
async function lastSequenceOf(client: Client, key: string): Promise<number | undefined> {
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

import type { Payload } from "../../events/catalogue.js";
import { textOf, type Usage } from "../../events/content.js";
import type { EventOf, StoredEvent } from "../../events/event.js";
import { stateAfter } from "../../events/folds/session-state.js";
import { namesOf } from "../../util/text/untrusted.js";
import { restoredOutside } from "../history/history-entries.js";
import { holdsText } from "../history/same-text.js";
import { OpenTurn } from "../open-turn.js";
import type { DocumentMessage, SessionDocument, SessionMetadata } from "../session.js";
import { beginningOf } from "./beginning-of.js";
import { type Line, roleOf, userLine } from "./document-line.js";
import { DocumentLines } from "./document-lines.js";
import { DocumentUsage, type TurnEnded } from "./document-usage.js";

/** A session as people read it: a fold over the session's events into the shape of `.sessions/<name>.json`. */
export class DocumentFold {
  readonly #key: string;
  readonly #lines = new DocumentLines();
  /** The first user text that is not a command, once there is one: it stays the first unless lines are taken out. */
  #summary: string | undefined;
  /** The newest fresh start. */
  #freshSince = 0;
  #forkedFrom: SessionMetadata["forkedFrom"];
  #origins = new Set<string>();
  #title: Pick<SessionDocument, "title" | "titleSource" | "titleState" | "titleUpdatedAt"> = {};
  #state = "created";
  /** Chosen for the session; without a choice the one that answered last. */
  #chosenModel: string | undefined;
  #usedModel: string | undefined;
  #createdAt: string | undefined;
  #lastActivity: string | undefined;
  readonly #spent = new DocumentUsage();
  #lastSequence = 0;
  #turn: OpenTurn | undefined;
  #cwd: string | undefined;
  /** Where what others wrote came from since the newest fresh start: all answers after it are under its influence. */
  #outside = new Set<string>();
  #hasGuests = false;

  constructor(key: string) {
    this.#key = key;
  }

  /** All of it, for a file; undefined in the middle of a turn. */
  get folded() {
    if (this.#turn !== undefined) return undefined;
    return {
      lines: this.#lines.folded,
      // Looked for now, so that what restores this need not.
      summary: this.summary === undefined ? undefined : this.#summary,
      freshSince: this.#freshSince,
      forkedFrom: this.#forkedFrom,
      origins: this.#origins,
      title: this.#title,
      state: this.#state,
      chosenModel: this.#chosenModel,
      usedModel: this.#usedModel,
      createdAt: this.#createdAt,
      lastActivity: this.#lastActivity,
      spent: this.#spent.folded,
      lastSequence: this.#lastSequence,
      cwd: this.#cwd,
      outside: this.#outside,
      hasGuests: this.#hasGuests,
    };
  }

  restore(state: NonNullable<DocumentFold["folded"]>): void {
    this.#lines.restore(state.lines);
    this.#summary = state.summary;
    this.#freshSince = state.freshSince;
    this.#forkedFrom = state.forkedFrom;
    this.#origins = state.origins;
    this.#title = state.title;
    this.#state = state.state;
    this.#chosenModel = state.chosenModel;
    this.#usedModel = state.usedModel;
    this.#createdAt = state.createdAt;
    this.#lastActivity = state.lastActivity;
    this.#spent.restore(state.spent);
    this.#lastSequence = state.lastSequence;
    this.#cwd = state.cwd;
    this.#outside = state.outside;
    this.#hasGuests = state.hasGuests;
  }

  apply(event: StoredEvent): void {
    this.#lastSequence = event.seq;
    this.#createdAt ??= event.timestamp;
    this.#state = stateAfter(this.#state, event);
    switch (event.type) {
      case "user_message_queued":
        if (event.payload.retry_of === undefined) this.#lines.wait(event.payload.message_id, userLine(event));
        break;
      case "user_message":
        this.#show(event.payload);
        break;
      case "error_occurred":
        if (event.correlation_id === undefined || event.payload.recoverable) return;
        this.#lines.end([event.correlation_id], this.#lastSequence);
        break;
      case "turn_execution_start":
        this.#turn ??= new OpenTurn();
        this.#lines.take(event.payload.message_ids, this.#lastSequence);
        break;
      case "assistant_message":
        this.#assistant(event);
        break;
      case "tool_execution_complete":
        if (event.payload.outside !== undefined) this.#outside.add(event.payload.outside);
        this.#turn?.call(event.payload);
        break;
      case "artifact_state_changed":
        this.#turn?.send(event.payload);
        break;
      case "human_input_asked":
        this.#turn?.ask(event.payload);
        break;
      case "human_input_answered":
        this.#turn?.answer(event.payload);
        this.#lines.take([event.correlation_id ?? ""], this.#lastSequence);
        break;
      case "turn_execution_complete":
      case "turn_execution_failed":
      case "turn_execution_cancelled":
        this.#endTurn(event);
        break;
      case "context_compressed":
        this.#spent.addUse(event);
        break;
      case "session_title_generated":
        this.#spent.addUse(event);
        this.#setTitle(event);
        break;
      case "session_state_changed":
        break;
      case "settings_changed":
        this.#set(event.payload);
        break;
      case "session_history_changed":
        this.#history(event.payload, event.timestamp);
        break;
      default:
        return;
    }
    this.#lastActivity = event.timestamp;
  }

  get messageCount(): number {
    return this.#lines.length;
  }

  get lastMessage(): DocumentMessage | undefined {
    return this.#lines.lastMessage;
  }

  /** Where the conversation belongs among others: a copy is as new as it was made, whenever its messages were said. */
  get lastMessageAt(): string | undefined {
    const at = this.lastMessage?.timestamp;
    const copiedAt = this.#forkedFrom === undefined ? "" : (this.#createdAt ?? "");
    return at === undefined || at > copiedAt ? at : copiedAt;
  }

  /** A title that is more than its first words. */
  get hasOwnTitle(): boolean {
    return this.#title.titleState === "stable";
  }

  get title(): string | undefined {
    return this.#title.title;
  }

  /** Where who made the session wants it to work. */
  get cwd(): string | undefined {
    return this.#cwd;
  }

  get state(): string {
    return this.#state;
  }

  get usage(): Usage {
    return this.#spent.usage;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** The first user text that is not a command, 100 characters. */
  get summary(): string | undefined {
    if (this.#summary !== undefined) return this.#summary;
    const texts = this.#lines.messages().flatMap(({ role, content }) => (role === "user" ? [content] : []));
    const { text, isCommand } = beginningOf(texts);
    if (!isCommand) this.#summary = text;
    return text;
  }

  /** The sessions that this one is a copy of, those that they were copies of included. */
  get origins(): ReadonlySet<string> {
    return this.#origins;
  }

  /** What people and assistant said since the newest fresh start, as far as the model sees it, and where in the log. */
  get conversation(): {
    readonly fromSeq: number;
    readonly toSeq: number;
    readonly messages: readonly DocumentMessage[];
  } {
    const seen = this.#lines.placed().filter(({ isSeen, seq }) => isSeen && seq > this.#freshSince);
    return {
      fromSeq: seen[0]?.seq ?? 0,
      toSeq: seen.at(-1)?.seq ?? 0,
      messages: seen.map(({ message }) => message),
    };
  }

  /**
   * Whether this text is in one message of that role which is free of what others wrote, also from before a fresh
   * start. Letters and digits are compared alone: platforms show a text without its formatting, or a part of it.
   */
  holdsOwn(role: "user" | "assistant", text: string): boolean {
    const own = this.#lines.placed().filter(
      // What a message brings along is known once its turn has read it.
      ({ message, isSeen }) =>
        message.role === role && message.outside === undefined && (isSeen || role === "assistant"),
    );
    return holdsText(
      own.map(({ message }) => message),
      text,
    );
  }

  toDocument(): SessionDocument {
    const { summary } = this;
    const model = this.#chosenModel ?? this.#usedModel;
    return {
      key: this.#key,
      ...this.#title,
      messages: this.#lines.messages(),
      metadata: {
        state: this.#state,
        ...(model === undefined ? {} : { model }),
        ...(this.#cwd === undefined ? {} : { cwd: this.#cwd }),
        createdAt: this.#createdAt ?? new Date(0).toISOString(),
        lastActivity: this.#lastActivity ?? this.#createdAt ?? new Date(0).toISOString(),
        ...(summary === undefined ? {} : { summary }),
        ...this.#spent.toMetadata(),
        lastSequence: this.#lastSequence,
        ...(this.#forkedFrom === undefined ? {} : { forkedFrom: this.#forkedFrom }),
      },
    };
  }

  /** What the log has lost goes back to its place. */
  #restore({
    role,
    content,
    timestamp = "",
    seq = 0,
  }: NonNullable<Payload<"session_history_changed">["messages"]>[number]): void {
    const message = { role: roleOf(role), content, timestamp, outside: restoredOutside };
    this.#lines.insert({ message, seq, isSeen: role === "user" || role === "assistant" });
    this.#summary = undefined;
  }

  #add(message: DocumentMessage, more: Partial<Pick<Line, "isSeen">> = {}): void {
    this.#lines.add({ isSeen: false, ...more, message, seq: this.#lastSequence });
  }

  /** What the answers from here on are composed under. */
  #labels(): Pick<DocumentMessage, "outside" | "forGuest"> {
    return {
      ...(this.#outside.size === 0 ? {} : { outside: namesOf([...this.#outside]) }),
      ...(this.#hasGuests ? { forGuest: true } : {}),
    };
  }

  /** Messages that waited belong to the turn that takes them: an undo of that turn leaves them out. */
  #show({ message_id, outside, by }: Payload<"user_message">): void {
    this.#hasGuests ||= by === "guest";
    if (outside !== undefined) this.#outside.add(outside);
    this.#lines.show(message_id, this.#lastSequence, {
      ...(outside === undefined ? {} : { outside }),
      ...(by === "guest" ? { forGuest: true as const } : {}),
    });
  }

  /** A turn's answers become one message. */
  #assistant({ payload, source, timestamp }: EventOf<"assistant_message">): void {
    if (payload.answers !== undefined) {
      this.#besideTurn(payload, payload.answers, timestamp);
      return;
    }
    const isModels = source !== "gateway";
    this.#spent.addAnswer(payload, isModels);
    if (isModels) this.#usedModel = payload.model;
    const turn = this.#turn ?? new OpenTurn();
    turn.say(payload.content);
    if (!payload.final && !payload.partial) return;
    const line = turn.toLine();
    if (line !== undefined)
      this.#add({ role: "assistant", ...line, timestamp, ...this.#labels() }, { isSeen: isModels });
    this.#turn = undefined;
  }

  /** A command that was answered while the turn waits for a person: the turn's own line is still to come. */
  #besideTurn({ content }: Payload<"assistant_message">, command: string, timestamp: string): void {
    this.#lines.take([command], this.#lastSequence);
    this.#add({ role: "assistant", content: textOf(content), timestamp }, { isSeen: false });
  }

  #endTurn(event: TurnEnded): void {
    this.#lines.end(event.payload.message_ids, this.#lastSequence);
    if (event.type === "turn_execution_failed")
      this.#add({ role: "error", content: event.payload.message, timestamp: event.timestamp });
    if (event.type === "turn_execution_cancelled")
      this.#add({ role: "system", content: "Stopped.", timestamp: event.timestamp });
    this.#spent.endTurn(event);
    this.#turn = undefined;
  }

  #set({ key, to }: Payload<"settings_changed">): void {
    if (key === "model") this.#chosenModel = to || undefined;
    if (key === "cwd") this.#cwd = to || undefined;
  }

  #setTitle({ payload, timestamp }: EventOf<"session_title_generated">): void {
    const { title, generated_by: by } = payload;
    if (this.#title.titleSource === "user" && by !== "user") return;
    this.#title = {
      title,
      titleSource: by === "user" ? "user" : "auto",
      titleState: by === "fallback" ? "pending" : "stable",
      titleUpdatedAt: timestamp,
    };
  }

  #history(change: Payload<"session_history_changed">, timestamp: string): void {
    switch (change.kind) {
      case "new":
        this.#freshSince = this.#lastSequence;
        this.#outside.clear();
        this.#hasGuests = false;
        break;
      case "undo":
        this.#lines.cutTo(change.to_seq ?? 0);
        this.#summary = undefined;
        break;
      case "fork":
        this.#forkedFrom = change.forked_from;
        this.#createdAt = timestamp;
        if (change.forked_from !== undefined) this.#origins.add(change.forked_from.key);
        break;
      case "import":
      case "said":
        for (const { role, content, outside, timestamp: at = timestamp } of change.messages ?? []) {
          if (outside !== undefined) this.#outside.add(outside);
          this.#add(
            { role: roleOf(role), content, timestamp: at, ...(outside === undefined ? {} : { outside }) },
            { isSeen: role === "user" || role === "assistant" },
          );
        }
        break;
      case "restored":
        for (const message of change.messages ?? []) this.#restore(message);
        break;
      case "edit":
      case "deletion":
        break;
    }
  }
}

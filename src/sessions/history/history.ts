import type { Payload } from "../../events/catalogue.js";
import type { ContentPart, TextPart, ToolResultPart, Usage } from "../../events/content.js";
import { tokensOf, tokensOfResult } from "../../events/content-tokens.js";
import type { StoredEvent } from "../../events/event.js";
import { cutText } from "../../util/text/cut-text.js";
import { KnownAddresses } from "../known-addresses.js";
import { compactEntries, restedEntries } from "./compact-entries.js";
import {
  type AssistantEntry,
  differentWriters,
  forUser,
  type HistoryMessage,
  nameOfTexts,
  restoredOutside,
  resultOf,
  summaryText,
  type TurnOfHistory,
  toAssistantEntry,
  tokensOfResults,
  toUserEntry,
  turnsOf,
  type UserContent,
  type UserEntry,
  type Writer,
  withoutImages,
  writersOf,
} from "./history-entries.js";

/** What a model call truly took, as its provider told. */
export interface Calibration {
  /** Tokens of the whole request. */
  readonly actual: number;
  /** What the messages of that request were estimated to take. */
  readonly estimated: number;
}

/** How much of the context could be left out. */
export const compactionStrategies = ["summary", "digest", "results"] as const;
export type CompactionStrategy = (typeof compactionStrategies)[number];

/** With the strategy `results`, tool results before the last two answers keep this many characters. */
const restOfResult = 600;
const longResult = 1000;
const untouchedAnswers = 2;
/** More messages do not wait in one session. */
const maxSenders = 1000;

/**
 * A session as models see it: a fold over the session's events. Whatever the order of aborts, crashes and late
 * results, {@link toMessages} gives a list in which each call has exactly one result, directly behind it.
 */
export class History {
  #entries: (UserEntry | AssistantEntry)[] = [];
  #tokens = 0;
  #calibration: Calibration | undefined;
  /** The newest fresh start. */
  #freshSince = 0;
  #hasImages = false;
  #hasFiles = false;
  readonly #addresses = new KnownAddresses();
  /** Senders of messages whose turn has not begun, by message id. */
  #senders = new Map<string, Writer>();
  #thoughts: { readonly messageId: string; readonly content: readonly ContentPart[] } | undefined;

  /** The next answer with its thinking, where the log is to hold it without. */
  keepThoughts(messageId: string, content: readonly ContentPart[]): void {
    this.#thoughts = { messageId, content };
  }

  /** All of it between two turns, for a file. */
  get folded() {
    return {
      entries: restedEntries(this.#entries),
      tokens: this.#tokens,
      calibration: this.#calibration,
      freshSince: this.#freshSince,
      hasImages: this.#hasImages,
      hasFiles: this.#hasFiles,
      addresses: this.#addresses.folded,
      senders: this.#senders,
    };
  }

  restore(state: History["folded"]): void {
    this.#entries = compactEntries(state.entries);
    this.#tokens = state.tokens;
    this.#calibration = state.calibration;
    this.#freshSince = state.freshSince;
    this.#hasImages = state.hasImages;
    this.#hasFiles = state.hasFiles;
    this.#addresses.restore(state.addresses);
    this.#senders = state.senders;
  }

  apply(event: StoredEvent): void {
    switch (event.type) {
      case "user_message_queued": {
        const { message_id, channel, sender_id, sender_name } = event.payload;
        const [oldest] = this.#senders.keys();
        if (this.#senders.size >= maxSenders && oldest !== undefined) this.#senders.delete(oldest);
        this.#senders.set(message_id, { channel, senderId: sender_id, name: sender_name ?? sender_id });
        return;
      }
      case "user_message": {
        const { message_id, content, outside, by, addresses = [], files = 0 } = event.payload;
        const writer = { ...this.#senders.get(message_id), role: by };
        this.#senders.delete(message_id);
        this.#addresses.learn(addresses);
        this.#hasFiles ||= files > 0;
        this.#addUser(event.seq, event.turn_id, forUser(content), writer, outside);
        return;
      }
      case "assistant_message":
        if (event.source === "gateway") return;
        if (!event.payload.partial) this.#calibrate(event.payload.usage);
        this.#addresses.noteOwn(event.payload.content);
        this.#addAssistant(event.seq, event.turn_id, { ...event.payload, content: this.#whole(event.payload) });
        return;
      case "tool_execution_complete":
        this.#addResult(
          event.turn_id,
          {
            type: "tool_result",
            tool_call_id: event.payload.tool_call_id,
            content: event.payload.output,
            is_error: event.payload.is_error,
            ...(event.payload.images === undefined ? {} : { images: event.payload.images }),
          },
          event.payload.outside,
        );
        this.#learn(event.payload);
        return;
      case "session_history_changed":
        this.#change(event.payload, event.seq);
        return;
      case "context_compressed":
        this.#compress(event.payload);
        return;
      default:
    }
  }

  get size(): number {
    return this.#entries.length;
  }

  /** What {@link toMessages} takes, estimated. */
  get tokens(): number {
    return this.#tokens;
  }

  /** The newest call whose provider told its usage. */
  get calibration(): Calibration | undefined {
    return this.#calibration;
  }

  /** False when no message holds an image; true also when one did that is gone. */
  get mayHoldImages(): boolean {
    return this.#hasImages;
  }

  get beginsWithSummary(): boolean {
    return this.#entries[0]?.isSummary === true;
  }

  /** True when the strategy `results` would shorten something. */
  get hasLongResults(): boolean {
    return this.#answersWithCalls()
      .slice(0, -untouchedAnswers)
      .some(({ results }) =>
        [...results.values()].some(({ content, images }) => content.length > longResult || images !== undefined),
      );
  }

  /** Oldest first. */
  turns(): readonly TurnOfHistory[] {
    return turnsOf(this.#entries);
  }

  /** The person's message of this event, as long as the model sees it as it was written. */
  messageAt(seq: number): { readonly turnId: string | undefined; readonly beginsTurn: boolean } | undefined {
    const at = this.#entries.findIndex((entry) => entry.seq === seq && entry.role === "user" && !entry.isSummary);
    const turnId = this.#entries[at]?.turnId;
    return at === -1 ? undefined : { turnId, beginsTurn: this.#entries[at - 1]?.turnId !== turnId };
  }

  /** True when this text is in some message that the model still sees; searched from the newest. */
  mentions(text: string): boolean {
    return this.#entries.some(
      (entry) =>
        entry.role === "user" && entry.content.some((part) => part.type === "text" && part.text.includes(text)),
    );
  }

  /** Whether this web address, as a whole, came from outside since the last fresh start. Outlives compaction. */
  knowsAddress(url: string): boolean {
    return this.#addresses.has(url);
  }

  /** Files came with messages since the last fresh start. */
  get hasFiles(): boolean {
    return this.#hasFiles;
  }

  /**
   * Where those parts that the model still sees came from that others wrote.
   *
   * @param isOthers says for the writer of a message whether they count as others, for whom the turn is
   */
  outside(isOthers: (writer: Writer) => boolean = () => false): readonly string[] {
    return this.#entries.flatMap((entry) => {
      const others = entry.role === "user" ? entry.writers.filter(isOthers) : [];
      return others.length === 0 ? entry.outside : [...entry.outside, ...others.map(nameOfTexts)];
    });
  }

  /**
   * Thinking is kept only for the given turn: providers want it back until the turn ends, and no longer. A model can
   * make use only of its own, so that of any other is left out.
   *
   * @param count only so many messages from the beginning
   */
  toMessages(currentTurnId: string | undefined, model?: string, count = this.#entries.length): HistoryMessage[] {
    const messages: HistoryMessage[] = [];
    for (const entry of count < this.#entries.length ? this.#entries.slice(0, count) : this.#entries) {
      if (entry.role === "user") {
        messages.push(entry);
        continue;
      }
      const isItsOwn = entry.turnId === currentTurnId && (model === undefined || entry.model === model);
      const message = isItsOwn ? entry : (entry.rested ?? entry);
      if (message.content.length === 0) continue;
      messages.push(message);
      if (entry.calls.length > 0)
        messages.push({ role: "tool", content: entry.calls.map((call) => resultOf(entry, call)) });
    }
    return messages;
  }

  #whole({ message_id, content }: Payload<"assistant_message">): readonly ContentPart[] {
    return this.#thoughts?.messageId === message_id ? this.#thoughts.content : content;
  }

  #addAssistant(...answer: Parameters<typeof toAssistantEntry>): void {
    const entry = toAssistantEntry(...answer);
    this.#tokens += entry.tokens;
    this.#entries.push(entry);
  }

  #addUser(
    seq: number,
    turnId: string | undefined,
    content: UserContent,
    writer: Writer,
    outside: string | undefined,
  ): void {
    const entry = toUserEntry({ seq, turnId, content, writers: writersOf(this.#entries, writer) }, outside);
    this.#tokens += entry.tokens;
    this.#hasImages ||= content.some(({ type }) => type === "image");
    this.#entries.push(entry);
  }

  #learn({ output, addresses, visited, outside }: Payload<"tool_execution_complete">): void {
    if (visited !== undefined) this.#addresses.learn([visited]);
    if (addresses !== undefined) this.#addresses.learnFrom(output, addresses, outside);
  }

  #calibrate(usage: Usage): void {
    const actual = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
    if (actual > 0) this.#calibration = { actual, estimated: this.#tokens };
  }

  /** The counts tell how many messages went, so that a reader of the log comes to the same context. */
  #compress(change: Payload<"context_compressed">): void {
    if (change.strategy === "results") {
      this.#shortenResults();
      return;
    }
    const gone = this.#entries.length - (change.final_message_count - 1);
    if (gone < 1 || gone > this.#entries.length) return;
    const seq = this.#entries[gone - 1]?.seq ?? 0;
    const content: TextPart[] = [{ type: "text", text: summaryText(change.summary) }];
    // A summary of what others wrote is theirs as well.
    const replaced = this.#entries.slice(0, gone);
    const outside = [...new Set(replaced.flatMap((entry) => entry.outside))];
    const writers = differentWriters(replaced.flatMap((entry) => (entry.role === "user" ? entry.writers : [])));
    const summary = {
      role: "user" as const,
      seq,
      turnId: undefined,
      content,
      outside,
      writers,
      isSummary: true as const,
    };
    this.#entries.splice(0, gone, { ...summary, tokens: tokensOf(content) });
    this.#count();
  }

  #shortenResults(): void {
    for (const entry of this.#answersWithCalls().slice(0, -untouchedAnswers)) {
      for (const [id, result] of entry.results) {
        if (result.images !== undefined) entry.results.set(id, withoutImages(result));
        if (result.content.length <= longResult) continue;
        const content = `${cutText(result.content, restOfResult)}\n[Shortened to save room.]`;
        entry.results.set(id, { ...withoutImages(result), content });
      }
      entry.tokens = tokensOf(entry.content) + tokensOfResults(entry);
    }
    this.#count();
  }

  #answersWithCalls(): readonly AssistantEntry[] {
    return this.#entries.filter((entry) => entry.role === "assistant").filter(({ calls }) => calls.length > 0);
  }

  #cutTo(length: number): void {
    this.#entries.length = length;
    this.#count();
  }

  #count(): void {
    this.#tokens = this.#entries.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  /** A result belongs to its turn's newest call of that id, unless that has one: some servers give each answer's calls the same ids. */
  #addResult(turnId: string | undefined, result: ToolResultPart, outside: string | undefined): void {
    for (let index = this.#entries.length - 1; index >= 0; index--) {
      const entry = this.#entries[index];
      if (entry?.role !== "assistant" || entry.turnId !== turnId) continue;
      if (!entry.calls.some((call) => call.id === result.tool_call_id)) continue;
      if (entry.results.has(result.tool_call_id)) return;
      entry.results.set(result.tool_call_id, result);
      this.#hasImages ||= result.images !== undefined;
      if (outside !== undefined) entry.outside = [...entry.outside, outside];
      const tokens = tokensOfResult(result);
      entry.tokens += tokens;
      this.#tokens += tokens;
      return;
    }
  }

  #change(change: Extract<StoredEvent, { type: "session_history_changed" }>["payload"], seq: number): void {
    switch (change.kind) {
      case "new":
      case "deletion":
        this.#freshSince = seq;
        this.#cutTo(0);
        this.#calibration = undefined;
        this.#hasFiles = false;
        this.#addresses.clear();
        return;
      case "undo": {
        const keep = this.#entries.findIndex((entry) => entry.seq > (change.to_seq ?? 0));
        // A summary cannot be taken apart.
        if (keep !== -1) this.#cutTo(Math.max(keep, this.beginsWithSummary ? 1 : 0));
        return;
      }
      case "import":
      case "said":
        for (const message of change.messages ?? []) {
          if (message.content === "") continue;
          const content: TextPart[] = [{ type: "text", text: message.content }];
          if (message.role === "user") this.#addUser(seq, undefined, content, {}, message.outside);
          else if (message.role === "assistant") {
            this.#addresses.noteOwn(content);
            this.#addAssistant(seq, undefined, { content, model: "" }, message.outside);
          }
        }
        return;
      case "restored":
        for (const message of change.messages ?? []) this.#restore(message);
        return;
      case "fork":
      case "edit":
        return;
    }
  }

  /** What the log has lost goes back to its place, unless the model would not see it any more. */
  #restore({ role, content, seq = 0 }: NonNullable<Payload<"session_history_changed">["messages"]>[number]): void {
    const [first] = this.#entries;
    if (content === "" || seq <= this.#freshSince || (first?.isSummary === true && seq < first.seq)) return;
    const later = this.#entries.splice(Math.max(0, this.#entries.findLastIndex((entry) => entry.seq < seq) + 1));
    const parts: TextPart[] = [{ type: "text", text: content }];
    if (role === "user") this.#addUser(seq, undefined, parts, {}, restoredOutside);
    else if (role === "assistant") this.#addAssistant(seq, undefined, { content: parts, model: "" }, restoredOutside);
    this.#entries.push(...later);
  }
}

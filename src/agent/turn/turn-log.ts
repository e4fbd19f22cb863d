import type { Commit, Count, Delivery, Work } from "../../engine/engine.js";
import type { HeldPieces } from "../../events/bus/held-pieces.js";
import { type EventType, type Payload, specOf } from "../../events/catalogue.js";
import type { ContentPart } from "../../events/content.js";
import { draft, type EventDraft, type StoredEvent } from "../../events/event.js";
import type { MachineOutput } from "../../events/machines/input.js";
import { type MachineOutputs, type Machines, toDraft } from "../../events/machines/run-machines.js";
import type { ModelUse } from "../../events/model-use.js";
import { deltaTypes } from "../../events/sets.js";

export interface TurnIdentity {
  readonly turnId: string;
  readonly agentId: string;
  /** The accepted message that began the turn. */
  readonly correlationId: string;
  /** The stored event that the turn follows from. */
  readonly cause: string | undefined;
}

export interface TurnLogOptions {
  readonly delivery: Delivery<"inbound">;
  readonly identity: TurnIdentity;
  /** What earlier attempts have stored: a call that runs again after a crash tells nothing twice. */
  readonly earlier?: readonly StoredEvent[] | undefined;
  /** Through which the pieces of answers are told. Without it each is told at once. */
  readonly pieces?: Pick<HeldPieces, "tell"> | undefined;
  readonly persistDetail: boolean;
  readonly persistThoughts: boolean;
  /** Given each answer with its thinking, before the answer is written without it. */
  readonly keepThoughts?: ((messageId: string, content: readonly ContentPart[]) => void) | undefined;
  /** What the counters of usage get together with these events. */
  readonly counts?: ((drafts: readonly EventDraft[]) => readonly Count[]) | undefined;
}

/**
 * Writes a turn's events: each gets the turn's ids, and as its cause the stored event before it, so that every reply
 * leads back to its message without a gap.
 */
export class TurnLog {
  readonly #options: TurnLogOptions;
  readonly #earlierIds: ReadonlySet<string>;
  #cause: string | undefined;
  /** Of what this attempt has written. */
  #lastSeq = 0;
  /** Goes with the next events that are written. */
  #owed: readonly Count[] = [];
  #discarded: readonly ModelUse[] = [];
  /** Named as the source of what the model produces, e.g. `provider:openai`. */
  modelSource = "agent";

  readonly #tell = (output: MachineOutput): void => this.publish(this.#toDraft(output));

  constructor(options: TurnLogOptions) {
    this.#options = options;
    this.#cause = options.identity.cause;
    this.#earlierIds = new Set(options.earlier?.map(({ event_id }) => event_id));
  }

  get turnId(): string {
    return this.#options.identity.turnId;
  }

  get attempt(): number {
    return this.#options.delivery.attempt;
  }

  draft<T extends EventType>(type: T, payload: Payload<T>, source = "agent"): EventDraft {
    const { turnId, agentId, correlationId } = this.#options.identity;
    return draft(type, payload, { source, turn_id: turnId, agent_id: agentId, correlation_id: correlationId });
  }

  /** An event that was made elsewhere, as one of this turn. */
  adopt(drafted: EventDraft): EventDraft {
    const { turnId, agentId, correlationId } = this.#options.identity;
    return { ...drafted, turn_id: turnId, agent_id: agentId, correlation_id: correlationId };
  }

  /** The stored outputs of the machines as drafts. */
  stored(outputs: readonly MachineOutput[]): EventDraft[] {
    return outputs.map((output) =>
      this.#toDraft(output.type === "assistant_message" ? this.#withoutThoughts(output) : output),
    );
  }

  /** Publishes the stream outputs and writes the stored ones, together with what is sent out before the turn's end. */
  async writeOutputs(
    outputs: MachineOutputs,
    before: readonly EventDraft[] = [],
    durable = false,
    emit: readonly Work[] = [],
  ): Promise<void> {
    this.#tellStream(outputs.stream);
    await this.append([...before, ...this.stored(outputs.stored)], durable, emit);
  }

  /** Ends what is being streamed, for an attempt that goes no further: nobody is to wait for the rest. */
  abandonStream(machines: Machines): void {
    const { stream } = machines.feed({ kind: "stream_failed", code: "UNKNOWN", willRetry: true });
    this.#tellStream(stream);
  }

  #tellStream(outputs: readonly MachineOutput[]): void {
    const { pieces, delivery } = this.#options;
    for (const output of outputs)
      if (pieces === undefined) this.#tell(output);
      else pieces.tell(delivery.work.sessionKey, output, this.#tell);
  }

  async append(drafts: readonly EventDraft[], durable = false, emit: readonly Work[] = []): Promise<void> {
    const cause = this.#cause;
    const { stored, passing } = this.#chain(drafts.filter(({ event_id }) => !this.#earlierIds.has(event_id)));
    try {
      if (stored.length > 0) {
        const options = { durable, emit, counts: this.#counts(drafts) };
        const written = await this.#options.delivery.append(stored, options);
        const seq = written.at(-1)?.seq ?? 0;
        // What was there already, from an attempt before, is not what comes next follows from.
        if (seq <= this.#lastSeq && this.#cause === stored.at(-1)?.event_id) this.#cause = cause;
        this.#lastSeq = Math.max(this.#lastSeq, seq);
      }
    } catch (error) {
      this.#cause = cause;
      throw error;
    }
    for (const drafted of passing) this.publish(drafted);
  }

  /** Counts that belong to no event: they are written with the next one. */
  owe(counts: readonly Count[]): void {
    this.#owed = [...this.#owed, ...counts];
  }

  /** An answer was given up that leaves no message behind: the turn's end tells what it has used. */
  discard(use: ModelUse): void {
    this.#discarded = [...this.#discarded, use];
  }

  get discarded(): readonly ModelUse[] {
    return this.#discarded;
  }

  publish(drafted: EventDraft): void {
    this.#options.delivery.publish(drafted.causation_id === undefined ? this.#caused(drafted) : drafted);
  }

  /** Ends the turn: its last events, its replies and the acknowledgement of its messages, all or nothing. */
  async commit(drafts: readonly EventDraft[], emit: readonly Work[]): Promise<void> {
    await this.#options.delivery.commit(this.#commit(drafts, emit));
  }

  async bury(reason: string, drafts: readonly EventDraft[], emit: readonly Work[]): Promise<void> {
    await this.#options.delivery.bury({ reason, ...this.#commit(drafts, emit) });
  }

  /** What is not stored goes first, because the turn's last word is a stored one; so its cause is what is stored by now. */
  #commit(drafts: readonly EventDraft[], emit: readonly Work[]): Commit {
    const cause = this.#cause;
    const { stored, passing } = this.#chain(drafts);
    for (const drafted of passing) this.publish(cause === undefined ? drafted : { ...drafted, causation_id: cause });
    return { events: stored, emit, counts: this.#counts(drafts) };
  }

  #counts(drafts: readonly EventDraft[]): readonly Count[] {
    const owed = this.#owed;
    this.#owed = [];
    return [...owed, ...(this.#options.counts?.(drafts) ?? [])];
  }

  /** Gives each its cause. `passing`: details that the configuration leaves out of the log; they are only told. */
  #chain(drafts: readonly EventDraft[]): { readonly stored: EventDraft[]; readonly passing: EventDraft[] } {
    const stored: EventDraft[] = [];
    const passing: EventDraft[] = [];
    for (const drafted of drafts) {
      const isLeftOut = specOf(drafted.type).detail && !this.#options.persistDetail;
      (isLeftOut ? passing : stored).push(this.#caused(drafted));
      if (!isLeftOut) this.#cause = drafted.event_id;
    }
    return { stored, passing };
  }

  #caused(drafted: EventDraft): EventDraft {
    return this.#cause === undefined ? drafted : { ...drafted, causation_id: this.#cause };
  }

  #toDraft(output: MachineOutput): EventDraft {
    const { turnId, agentId, correlationId } = this.#options.identity;
    const ofModel = output.type === "assistant_message" || deltaTypes.has(output.type);
    return toDraft(output, {
      source: ofModel ? this.modelSource : "agent",
      turn_id: turnId,
      agent_id: agentId,
      correlation_id: correlationId,
    });
  }

  /** Thinking goes back to its provider until the turn ends: where the log may not hold it, memory does. */
  #withoutThoughts(output: Extract<MachineOutput, { type: "assistant_message" }>): MachineOutput {
    const { message_id, content } = output.payload;
    if (this.#options.persistThoughts || !content.some((part) => part.type === "thinking")) return output;
    this.#options.keepThoughts?.(message_id, content);
    const said = content.filter((part) => part.type !== "thinking");
    return { ...output, payload: { ...output.payload, content: said } };
  }
}

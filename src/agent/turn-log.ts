import type { Commit, Delivery, Work } from "../engine/engine.js";
import type { EventType, Payload } from "../events/catalogue.js";
import { draft, type EventDraft } from "../events/event.js";
import type { MachineOutput } from "../events/machines/input.js";
import { type MachineOutputs, toDraft } from "../events/machines/run-machines.js";

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
  readonly publish: (event: EventDraft) => void;
  readonly identity: TurnIdentity;
  readonly persistDetail: boolean;
  readonly persistThoughts: boolean;
}

/**
 * Writes a turn's events: each gets the turn's ids, and as its cause the stored event before it, so that every reply
 * leads back to its message without a gap.
 */
export class TurnLog {
  readonly #options: TurnLogOptions;
  #cause: string | undefined;
  /** Named as the source of what the model brings forth, e.g. `provider:openai`. */
  modelSource = "agent";

  constructor(options: TurnLogOptions) {
    this.#options = options;
    this.#cause = options.identity.cause;
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

  /** The stored outputs of the machines as drafts, without those that the configuration leaves out. */
  stored(outputs: readonly MachineOutput[]): EventDraft[] {
    const drafts: EventDraft[] = [];
    for (const output of outputs) {
      if (output.type === "agent_state_changed" && !this.#options.persistDetail) {
        this.#publish(output);
        continue;
      }
      drafts.push(this.#toDraft(output.type === "assistant_message" ? this.#withoutThoughts(output) : output));
    }
    return drafts;
  }

  /** Publishes the stream outputs and writes the stored ones. */
  async tell(outputs: MachineOutputs, before: readonly EventDraft[] = [], durable = false): Promise<void> {
    for (const output of outputs.stream) this.#publish(output);
    await this.append([...before, ...this.stored(outputs.stored)], durable);
  }

  async append(drafts: readonly EventDraft[], durable = false): Promise<void> {
    if (drafts.length === 0) return;
    await this.#options.delivery.append(this.#chain(drafts), { durable });
  }

  publish(drafted: EventDraft): void {
    this.#options.publish(drafted);
  }

  /** Ends the turn: its last events, its replies and the acknowledgement of its messages, all or nothing. */
  async commit(drafts: readonly EventDraft[], emit: readonly Work[]): Promise<void> {
    await this.#options.delivery.commit(this.#commit(drafts, emit));
  }

  async bury(reason: string, drafts: readonly EventDraft[], emit: readonly Work[]): Promise<void> {
    await this.#options.delivery.bury({ reason, ...this.#commit(drafts, emit) });
  }

  #commit(drafts: readonly EventDraft[], emit: readonly Work[]): Commit {
    return { events: this.#chain(drafts), emit };
  }

  #chain(drafts: readonly EventDraft[]): EventDraft[] {
    return drafts.map((drafted) => {
      const chained = this.#cause === undefined ? drafted : { ...drafted, causation_id: this.#cause };
      this.#cause = drafted.event_id;
      return chained;
    });
  }

  #publish(output: MachineOutput): void {
    const drafted = this.#toDraft(output);
    this.#options.publish(this.#cause === undefined ? drafted : { ...drafted, causation_id: this.#cause });
  }

  #toDraft(output: MachineOutput): EventDraft {
    const { turnId, agentId, correlationId } = this.#options.identity;
    const ofModel = output.type !== "agent_state_changed" && !output.type.startsWith("turn_");
    return toDraft(output, {
      source: ofModel ? this.modelSource : "agent",
      turn_id: turnId,
      agent_id: agentId,
      correlation_id: correlationId,
    });
  }

  /** Signed thinking must go back to its provider until the turn ends, so only unsigned thoughts can be left out. */
  #withoutThoughts(output: Extract<MachineOutput, { type: "assistant_message" }>): MachineOutput {
    if (this.#options.persistThoughts) return output;
    const content = output.payload.content.filter((part) => part.type !== "thinking" || part.signature !== undefined);
    return { ...output, payload: { ...output.payload, content } };
  }
}

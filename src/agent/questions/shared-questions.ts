import { z } from "zod";
import type { Records } from "../../engine/engine.js";
import { messageOf } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import type { GatewayEvent } from "../../events/event.js";
import type { Logger } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";
import type { OpenQuestion, OpenQuestions } from "./open-questions.js";

export interface SharedQuestionPorts {
  readonly questions: OpenQuestions;
  /** The open questions of all nodes. */
  readonly records: Records;
  /** Of all nodes. */
  readonly events: EventConsumer;
  readonly instanceId: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const stored = z.object({
  // It was an open question when another node wrote it.
  question: z.custom<OpenQuestion>((value) => typeof value === "object" && value !== null && "asked" in value),
  node: z.string(),
});
/** Its record is written at the same time as the event that tells about it. */
const triesMs = [0, 50, 150, 500, 2000];

/** Shows the questions of this node to the others, and those of the others here. */
export class SharedQuestions implements Disposable {
  readonly #ports: SharedQuestionPorts;
  readonly #undo: readonly (() => void)[];
  /** What ends a question of another node here. */
  readonly #elsewhere = new Map<string, () => void>();

  constructor(ports: SharedQuestionPorts) {
    this.#ports = ports;
    const { questions, events, records, instanceId, log } = ports;
    const isForeign = ({ metadata }: GatewayEvent): boolean => metadata.instance_id !== instanceId;
    const failed = (error: unknown): void => log.warn(`A question is not shown at other nodes: ${messageOf(error)}`);
    this.#undo = [
      questions.onOpened((question) => {
        const { request_id: id } = question.asked;
        this.#elsewhere.delete(id);
        records.put(id, { question, node: instanceId }).catch(failed);
      }),
      events.on("human_input_asked", ({ payload }) => void this.#look(payload.request_id), { filter: isForeign }),
      events.on("human_input_answered", ({ payload: { request_id: id }, metadata }) => {
        if (metadata.instance_id === instanceId) records.delete(id).catch(failed);
        this.#end(id);
      }),
    ];
    for (const { id, value } of records.list()) this.#show(id, value);
  }

  [Symbol.dispose](): void {
    for (const each of this.#undo) each();
  }

  async #look(id: string): Promise<void> {
    const { records, signal, log } = this.#ports;
    try {
      for (const ms of triesMs) {
        await sleep(ms, signal);
        // A look at what is stored, not at the view of it that this node has.
        const value = await records.update(id, (now) => now);
        if (value !== undefined) return this.#show(id, value);
      }
    } catch (error) {
      if (!signal.aborted) log.warn(`A question of another node is not shown here: ${messageOf(error)}`);
    }
  }

  #show(id: string, value: unknown): void {
    const { questions } = this.#ports;
    const found = stored.safeParse(value).data;
    if (found === undefined || questions.has(id)) return;
    this.#elsewhere.set(id, questions.openElsewhere(found.question));
  }

  #end(id: string): void {
    this.#elsewhere.get(id)?.();
    this.#elsewhere.delete(id);
  }
}

import type { Payload } from "./catalogue.js";
import type { Usage } from "./content.js";
import type { EventDraft } from "./event.js";

/** What model calls have used. */
export interface ModelUse {
  /** As people write it in the config. */
  readonly model: string;
  readonly usage: Usage;
  /** USD; absent where nobody knows. */
  readonly cost_usd?: number | undefined;
  /** What an answer that was cut has probably used beyond that, which no provider tells. */
  readonly guess?: Guess | undefined;
}

export interface Guess {
  readonly tokens: number;
  /** Absent where nobody knows the price. */
  readonly cost_usd?: number | undefined;
}

/** What an event tells about model calls: an answer, a title or a summary by a model, or answers that a turn has given up. */
export function modelUsesOf(event: Pick<EventDraft, "type" | "payload">): readonly ModelUse[] {
  switch (event.type) {
    case "turn_execution_complete":
    case "turn_execution_failed":
    case "turn_execution_cancelled":
      // The type of an event and its payload belong together, which is lost when they are taken apart.
      return (event.payload as Payload<"turn_execution_failed">).discarded ?? [];
    default: {
      const use = modelUseOf(event);
      return use === undefined ? [] : [use];
    }
  }
}

/** What an answer, a title or a summary has used. Undefined where nothing was. */
export function modelUseOf({ type, payload }: Pick<EventDraft, "type" | "payload">): ModelUse | undefined {
  switch (type) {
    case "assistant_message":
    case "context_compressed":
    case "session_title_generated": {
      // The type of an event and its payload belong together, which is lost when they are taken apart.
      const { model, usage, cost_usd } = payload as Payload<"context_compressed">;
      const { guess } = payload as Partial<Payload<"assistant_message">>;
      if (model === undefined || usage === undefined) return undefined;
      const isNothing = guess === undefined && Object.values(usage).every((tokens) => tokens === 0);
      return isNothing ? undefined : { model, usage, cost_usd, guess };
    }
    default:
      return undefined;
  }
}

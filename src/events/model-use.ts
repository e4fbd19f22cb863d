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
}

/** What an event tells of model calls: an answer, a title or a summary by a model. Undefined where nothing was used. */
export function modelUseOf({ type, payload }: Pick<EventDraft, "type" | "payload">): ModelUse | undefined {
  switch (type) {
    case "assistant_message":
    case "context_compressed":
    case "session_title_generated": {
      // The type of an event and its payload belong together, which is lost when they are taken apart.
      const { model, usage, cost_usd } = payload as Payload<"context_compressed">;
      if (model === undefined || usage === undefined) return undefined;
      return Object.values(usage).every((tokens) => tokens === 0) ? undefined : { model, usage, cost_usd };
    }
    default:
      return undefined;
  }
}

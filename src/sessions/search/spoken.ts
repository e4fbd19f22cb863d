import type { ContentPart } from "../../events/content.js";
import type { StoredEvent } from "../../events/event.js";
import type { SearchHit } from "./search.js";

/** A text that can be found. */
export interface Spoken {
  readonly who: SearchHit["who"];
  readonly text: string;
  /** Unix ms. */
  readonly at: number;
  readonly messageId?: string | undefined;
}

/** What people and the assistant say in an event, and titles. What tools give back is not searched. */
export function spokenIn(event: StoredEvent): readonly Spoken[] {
  const at = Date.parse(event.timestamp);
  switch (event.type) {
    case "user_message_queued": {
      const { content, change, result_of, message_id: messageId } = event.payload;
      if (change === "deleted" || result_of !== undefined) return [];
      return texts([{ who: "user", text: readable(content), at, messageId }]);
    }
    case "assistant_message": {
      // The gateway's own answers to commands repeat what others have said.
      if (event.source === "gateway") return [];
      const { content, message_id: messageId } = event.payload;
      return texts([{ who: "assistant", text: readable(content), at, messageId }]);
    }
    case "session_title_generated":
      // The beginning of the first message is found in that message.
      if (event.payload.generated_by === "fallback") return [];
      return texts([{ who: "title", text: event.payload.title, at }]);
    case "session_history_changed":
      return texts(
        (event.payload.messages ?? []).flatMap(({ role, content: text, timestamp }) => {
          const saidAt = Date.parse(timestamp ?? "");
          return role === "user" || role === "assistant"
            ? [{ who: role, text, at: Number.isNaN(saidAt) ? at : saidAt }]
            : [];
        }),
      );
    default:
      return [];
  }
}

function texts(spoken: readonly Spoken[]): readonly Spoken[] {
  return spoken.filter(({ text }) => text.trim() !== "");
}

/** Texts, and the names of files. */
function readable(content: readonly ContentPart[]): string {
  const parts = content.map((part) => {
    if (part.type === "text") return part.text;
    return part.type === "file" || part.type === "image" ? (part.filename ?? "") : "";
  });
  return parts.filter((part) => part !== "").join("\n");
}

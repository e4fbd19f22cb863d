import type { ContentPart } from "../../events/content.js";
import type { EventOf } from "../../events/event.js";
import type { DocumentMessage } from "../session.js";

export interface Line {
  readonly message: DocumentMessage;
  /** The event that put it where it is: a person's message is where its turn took it. */
  readonly seq: number;
  /** The model sees it, as long as no fresh start or undo comes. */
  readonly isSeen: boolean;
  /** The id of a message that its turn has taken, and that the model has not got. */
  readonly takenAs?: string | undefined;
}

/** A role as documents name it; what is unknown is told as by the system. */
export function roleOf(role: string): DocumentMessage["role"] {
  return role === "user" || role === "assistant" || role === "tool" || role === "error" ? role : "system";
}

export function userLine({ payload: { content }, timestamp }: EventOf<"user_message_queued">): DocumentMessage {
  const hasFiles = content.some((part) => part.type !== "text");
  return { role: "user", content: readable(content), ...(hasFiles ? { parts: content } : {}), timestamp };
}

/** What a person wrote, with a line for each file that came along. */
function readable(content: readonly ContentPart[]): string {
  const lines = content.map((part) => {
    if (part.type === "text") return part.text;
    return part.type === "file" || part.type === "image" ? `[${part.filename ?? part.path}]` : "";
  });
  return lines.filter((line) => line !== "").join("\n");
}

/** A line that was read from bytes, as small as it was made at first. */
export function compactLine({ message, seq, isSeen, takenAs }: Line): Line {
  const { role, content, timestamp, parts, timeline, outside, forGuest } = message;
  const isPlain = parts === undefined && timeline === undefined && outside === undefined;
  const plain = { role: roleOf(role), content, timestamp };
  const small = isPlain ? (forGuest === undefined ? plain : { ...plain, forGuest }) : message;
  return takenAs === undefined ? { message: small, seq, isSeen } : { message: small, seq, isSeen, takenAs };
}

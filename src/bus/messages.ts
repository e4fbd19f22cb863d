/**
 * A file that came with a message or goes with one. `path` is absolute, and where the gateway keeps what is the session's
 * and no tool can write; only before the message is sent over the API it lies in the workspace's `.uploads`.
 */
export interface Attachment {
  readonly path: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** The content of a file that is written only to be sent; its `path` is empty until then. Channels get a file. */
  readonly text?: string | undefined;
}

/** How a message that arrives during a turn is treated. `next` starts its own turn, `append` joins, `cancel` replaces. */
export type MessageMode = "next" | "append" | "cancel";

/** The message that another one answers, cut short. */
export interface Quoted {
  readonly text: string;
  readonly by: "assistant" | "sender" | "other";
  /** Of somebody else, as the platform shows it. */
  readonly name?: string | undefined;
}

/** One message of a person (or an internal one) on its way to the agent. Ids are strings, as the platform gives them. */
export interface InboundMessage {
  /** Our own id, `msg_…`. */
  readonly id: string;
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string | undefined;
  readonly senderId: string;
  readonly senderName?: string | undefined;
  readonly sessionKey: string;
  readonly content: string;
  readonly attachments: readonly Attachment[];
  /** The platform's own id of this message. */
  readonly platformMessageId?: string | undefined;
  /** What the platform repeats when it delivers the same message again: `channel:account:update id`. */
  readonly dedupId?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly quoted?: Quoted | undefined;
  /** What the channel left out of the content, or set apart from it, in a few words for the model. */
  readonly note?: string | undefined;
  /**
   * Set when this is not a new message but what has happened to an earlier one, which `platformMessageId` names: `edited`, and
   * `content` is how it reads now, or `deleted`. One whose turn has not begun is replaced or dropped by it; an edit that
   * comes later is a correction, and a deletion that comes later changes nothing.
   */
  readonly change?: "edited" | "deleted" | undefined;
  /** Skill names, or `["all"]`, or `["none"]`; absent: by the text and the configuration. */
  readonly selectedSkills?: readonly string[] | undefined;
  readonly mode?: MessageMode | undefined;
  /** Set when others wrote the content and the sender only passes it on: what it is, e.g. `a forwarded message`. */
  readonly outside?: string | undefined;
  /** Heartbeat, scheduled and sub-agent messages: nobody waits for an answer. */
  readonly internal?: boolean | undefined;
  /** Set in the session of a sub-agent, which works on this task: what it says goes to its parent and not to the chat. */
  readonly taskId?: string | undefined;
  /** Set when this brings back what happened to a task: the gateway's words, in the name of the one who asked for it. */
  readonly resultOf?: string | undefined;
  /** Where those parts of the content came from that others wrote, and that are marked as theirs already. */
  readonly mixed?: readonly string[] | undefined;
  /**
   * The web addresses in a content that a model wrote which no model made up. Those in a person's own message count
   * anyway.
   */
  readonly addresses?: readonly string[] | undefined;
  /** The scheduled job that this comes from: its budget counts, instead of the sender's. */
  readonly jobId?: string | undefined;
  /**
   * Of a message that an owner has written on the page or in the terminal into the chat of a platform: where its answer
   * is sent too. Absent: the answer is seen only where it was written.
   */
  readonly answersTo?: ChatPlace | undefined;
  /** What of the turn's end is not said in the chat. Absent: everything is said. */
  readonly silence?: Silence | undefined;
  /** Unix ms. */
  readonly receivedAt: number;
}

/** A chat on a platform. */
export interface ChatPlace {
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string | undefined;
}

/** What nobody has to hear about a message that no person sent. */
export interface Silence {
  /** That it failed: the time before did too, and that was said. */
  readonly failures?: boolean | undefined;
  /** Only an answer is said, and none that is nothing but this word. Counts for an `internal` message, too. */
  readonly word?: string | undefined;
}

/** Something to press below a message. */
export interface Button {
  readonly label: string;
  /** What comes back when it is pressed: at most 64 bytes of ASCII, the least that a platform allows. */
  readonly value: string;
}

/** One platform message on its way out. */
export interface OutboundMessage {
  /** `<replyId>#<n>`; nonce, Message-ID and client ids derive from it. */
  readonly id: string;
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string | undefined;
  /** The session whose log tells what happened to it. */
  readonly sessionKey: string;
  /** Platform id of the message that is answered. */
  readonly replyTo?: string | undefined;
  /** Markdown. */
  readonly content: string;
  readonly attachments: readonly Attachment[];
  /** Only for channels that have them: at most as many as the channel says. */
  readonly buttons?: readonly Button[] | undefined;
  /** The turn and the accepted message that this answers, for the trail of causes. */
  readonly turnId?: string | undefined;
  readonly correlationId?: string | undefined;
  /** Id of the event that tells that it was queued, which all that is told about it follows from. */
  readonly queuedEventId?: string | undefined;
}

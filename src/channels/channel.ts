import type { IncomingMessage, ServerResponse } from "node:http";
import type { InboundMessage, OutboundMessage } from "../bus/messages.js";

/** A file of a received message. Its content is fetched only once it is known that the sender may talk. */
export interface ReceivedFile {
  readonly filename: string;
  readonly mimeType: string;
  /** As the platform says it; absent where it does not. */
  readonly sizeBytes?: number | undefined;
  /** A spoken note: written down for the model where that is configured. */
  readonly isVoice?: boolean | undefined;
  /**
   * Fetches the content; called again after a failure that may pass. More than `maxBytes` need not be read to the end.
   *
   * @throws {ChannelError} `retryable` says whether trying again can help
   */
  read(maxBytes: number, signal: AbortSignal): Promise<Uint8Array>;
}

/** A message as a channel receives it; the gateway adds our id, the session and the time, and fetches the files. */
export type ReceivedMessage = Omit<
  InboundMessage,
  "id" | "sessionKey" | "receivedAt" | "channel" | "internal" | "attachments"
> & {
  readonly files?: readonly ReceivedFile[] | undefined;
  /** Its files may belong to what it passes on or quotes, and count as others'. */
  readonly hasFilesOfOthers?: boolean | undefined;
  /** Of the message that it answers, which `quoted` tells about. */
  readonly quotedFiles?: readonly ReceivedFile[] | undefined;
  /** A kind of message that cannot be read, e.g. `stickers`: who sent it is told once, and nothing is stored. */
  readonly unreadable?: string | undefined;
  /** `dm`: only this person and the bot. `group`: others read along. */
  readonly chatType: "dm" | "group";
  /** In a group: the bot was mentioned or replied to. Others' talk is dropped before anything is stored. */
  readonly addressed: boolean;
  /** The channel has no room to keep it until its turn: it is refused for good, and who sent it is told once. */
  readonly isLeftOut?: boolean | undefined;
  /** Moves with the message: set by channels whose platform repeats updates until a position is confirmed. */
  readonly cursor?: { readonly name: string; readonly value: string } | undefined;
};

/**
 * What happened to a received message. `busy`: not stored, leave it unconfirmed and tell the person.
 * Everything else may be confirmed to the platform.
 */
export type PublishOutcome =
  | { readonly status: "accepted" }
  | { readonly status: "duplicate" }
  /** Not allowed to talk, or not addressed. `reply` is a sentence for the person, if any is due. */
  | { readonly status: "refused"; readonly reply?: string }
  | { readonly status: "busy"; readonly reply: string };

export type Publish = (message: ReceivedMessage) => Promise<PublishOutcome>;

/** A button of ours that a person pressed. */
export interface ReceivedPress {
  readonly chatId: string;
  readonly thread?: string | undefined;
  readonly chatType: "dm" | "group";
  readonly senderId: string;
  readonly senderName?: string | undefined;
  /** The button's `value`. */
  readonly value: string;
}

/**
 * What a press came to; `text` is one sentence for who pressed, where the platform can show it to them alone. `busy`:
 * nothing was stored, the same button may be pressed again. An answer that is taken also changes the question's
 * message, which the gateway does by {@link Channel.edit}.
 */
export interface PressOutcome {
  readonly status: "taken" | "refused" | "busy";
  readonly text: string;
}

export type Press = (press: ReceivedPress) => Promise<PressOutcome>;

export interface Receipt {
  /** The platform's id of the message that now is there. */
  readonly platformMessageId: string;
}

/** What the owner of a channel must do before it can work. */
export interface OwnerToDo {
  readonly text: { readonly en: string; readonly zh: string };
  /** What a phone must scan, shown as a QR code. */
  readonly scan?: string | undefined;
}

/** One chat platform, as a source and a sink of messages. Knows no sessions, agents or tools. */
export interface Channel {
  /** Key in the config file and first part of each session key, e.g. `telegram`. */
  readonly name: string;

  /**
   * Receives until `signal` aborts, passing messages on in platform order. `publish` resolves once the
   * message is durable; many may be pending, and a full bus slows the platform down instead of filling
   * memory. The platform's offset is confirmed up to the last message before which all have resolved.
   * `onConnected` is called each time the connection is known to work: when it is open, and again with each proof of life
   * (an answered poll, a pong).
   *
   * @throws {ChannelError} the connection is lost; `retryable` says whether to run again
   */
  run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void>;

  /** Cuts a reply into platform messages, in order: pure, never inside a code fence without closing and reopening it. */
  split(content: string): readonly string[];

  /**
   * Resolves with the platform's id of the message once the platform has accepted it. Never retries by itself. The
   * platform must not fetch the addresses in a text to show what is behind them, neither here nor in `edit` nor in any
   * other text of ours: that would carry out what the model has put into them, without anybody's click.
   *
   * @throws {ChannelError} with `outcome: "refused"` (nothing was shown; `retryAfterMs` where the platform
   *   named a wait; `retryable` says whether trying again can help) or `"unknown"` (cut or timed out after the
   *   request had left)
   */
  send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt>;

  /**
   * Looks for a message of which nobody knows whether an earlier send has shown it; absent where the platform cannot be
   * asked. Undefined: it is not there. `since`, in Unix ms: it was queued then.
   *
   * @throws {ChannelError} the platform cannot be asked now
   */
  find?(message: OutboundMessage, since: number, signal: AbortSignal): Promise<Receipt | undefined>;

  /**
   * The longest time without a proof of life while all is well. A channel that is silent for longer is run again, so
   * that a connection which only looks alive is noticed. Absent: its `run` ends by itself when the connection is lost.
   */
  readonly longestSilenceMs?: number;

  /**
   * Whether a message can carry files: `apart`: one, and then no text; `together`: as many as there are, below the
   * text. Absent: none, and their names are told instead.
   */
  readonly files?: "apart" | "together";
  /** A larger file cannot be sent; its name is told instead. Absent: no limit of its own. */
  readonly maxFileBytes?: number;

  /** A reply of more messages is its beginning and a file; at least 3. Absent: ten. */
  readonly maxMessages?: number;

  /** The first message of each reply names the message that it answers, in `replyTo`, and not only in groups. */
  readonly namesAnswered?: boolean;

  /** How many buttons one message can have; absent: none, and questions come as numbered lines. */
  readonly maxButtons?: number;

  /**
   * Puts another text into a message of ours and takes its buttons away; absent where the platform cannot. The same
   * text again changes nothing and is not an error.
   *
   * @throws {ChannelError} `outcome: "refused"` and not `retryable` when the message is gone or cannot be changed
   */
  edit?(
    message: { readonly chatId: string; readonly platformMessageId: string; readonly content: string },
    signal: AbortSignal,
  ): Promise<void>;

  /**
   * How often at most a growing answer is shown by `edit`; absent: an answer is shown when it is whole. The gateway slows
   * down by itself when the platform asks it to.
   */
  readonly liveEditMs?: number;

  /** Forgets what it keeps of a chat whose conversation was deleted; absent where it keeps nothing that was said. */
  forget?(chatId: string, thread: string | undefined): Promise<void>;

  /** How long people here may take to answer a question; absent: as long as in live chats, some minutes. */
  readonly patienceMs?: number;

  /** Shows once that the assistant works on an answer; absent where the platform has no such sign. Best effort. */
  showTyping?(chatId: string, thread: string | undefined, signal: AbortSignal): Promise<void>;

  /** How often `showTyping` must be repeated to stay visible. */
  readonly typingIntervalMs?: number;

  /**
   * The account itself, as the id of a sender. Absent: it is not known, or the platform brings nothing that an account like this
   * one has said. Another account of the gateway there leaves out what this one says.
   */
  readonly ownId?: string | undefined;

  /** What its owner must do now, e.g. scan a code; undefined: nothing. Asked whenever somebody looks at its state. */
  toDo?(): OwnerToDo | undefined;
}

/** Small durable facts of a channel by id, e.g. the threads that it knows. Values are JSON. */
export interface ChannelRecords {
  get(id: string): unknown;
  /** Resolves once it is durable. */
  put(id: string, value: unknown): Promise<void>;
  delete(id: string): Promise<void>;
  list(): readonly { readonly id: string; readonly value: unknown }[];
}

/** What a channel gets besides its own options. */
export interface ChannelContext {
  /** Reads a durable position, e.g. Telegram's offset. */
  readonly cursor: (name: string) => Promise<string | undefined>;
  /** Of this channel alone, to be read once it runs; absent: it keeps what it must know in memory. */
  readonly records?: ChannelRecords | undefined;
  /** Takes a pressed button, without waiting for anything else that its chat has sent. Never rejects. */
  readonly press?: Press;
  /**
   * True for a message that is passed on before what its chat has sent earlier and is not taken yet: it stops what is
   * under way, answers what was asked, or comes from somebody who is not listened to, so that nothing of it may be kept.
   */
  readonly actsAtOnce?: ((message: ReceivedMessage) => boolean) | undefined;
  /** How long to wait for the platform's word on a send; absent: as the channel sees fit. */
  readonly sendTimeoutMs?: number | undefined;
}

/** Paths of the gateway's own HTTP server for what platforms bring. Anybody who reaches the gateway can call them. */
export interface WebhookPaths {
  /**
   * Gives `/hooks/<name>` to `handle`, until it is disposed.
   *
   * @throws {ChannelError} somebody has this path
   */
  open(name: string, handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Disposable;
}

/** What each channel gets by its name: a built-in one and one of an extension the same. */
export interface OwnChannelContext extends ChannelContext {
  readonly records: ChannelRecords;
  readonly press: Press;
  /**
   * Whether this person is listened to, in a direct chat or in this group when they address the bot there. For platforms that
   * ask before a chat begins. Absent: nobody is known yet, as while the channel is set up.
   */
  readonly mayTalk?: ((senderId: string, groupId: string) => boolean) | undefined;
  /** Commands that people are offered, for a menu of the platform. Absent: the menu stays as it is. */
  readonly commands?: readonly { readonly command: string; readonly description: string }[] | undefined;
  /** Absent: the gateway has no HTTP server. */
  readonly webhooks?: WebhookPaths | undefined;
}

/** What a function that makes channels gets. */
export interface PlatformContext extends ChannelContext {
  /** For the channel of this name: its `records` and its `press` are its own. */
  readonly forChannel: (name: string) => OwnChannelContext;
}

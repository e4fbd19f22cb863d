import type { BridgeMessage } from "../../../src/channels/whatsapp/frames.js";

/** Something that a person wrote, did to an earlier message, or sent as a file. */
export interface Arrived {
  readonly message: Omit<BridgeMessage, "seq">;
  /** Where the file of it is to be fetched, as only the link to WhatsApp understands it. */
  readonly media?: string | undefined;
}

/** A message of ours before it is made for WhatsApp. */
export interface Draft {
  readonly to: string;
  readonly messageId: string;
  readonly text: string;
  readonly file?: DraftFile | undefined;
  /** The message that it answers. */
  readonly quoted?: Arrived["message"] | undefined;
}

export interface DraftFile {
  readonly path: string;
  readonly name: string;
  readonly mimeType: string;
  readonly isVoice: boolean;
}

/** How the bridge stands to WhatsApp. */
export type LinkState =
  | { readonly state: "connecting" }
  /** Somebody must scan this code. */
  | { readonly state: "code"; readonly code: string }
  | { readonly state: "connected" }
  | LinkEnd;

/** How a connection has ended. Only after `lost` and `renewed` the same login can connect again. */
export type LinkEnd =
  | { readonly state: "lost"; readonly why: string }
  /** WhatsApp asks for a new connection at once, as after a scan. */
  | { readonly state: "renewed" }
  /** The device was removed, on the phone or by WhatsApp. */
  | { readonly state: "logged-out" }
  /** Another program uses the same login. */
  | { readonly state: "replaced" }
  | { readonly state: "refused"; readonly why: string };

/** What the link to WhatsApp tells. */
export interface Hear {
  /** Resolves once the message is on the disk. WhatsApp is told that it has arrived after that, and not before. */
  onMessage(arrived: Arrived): Promise<void>;
  /** WhatsApp has this message of ours. */
  onTaken(messageId: string): void;
  onState(state: LinkState): void;
  /** A message of ours as it was sent, for a device that could not read it. */
  sentBefore(messageId: string): Promise<Uint8Array | undefined>;
}

/** A send that did not come to its end. `unknown`: WhatsApp may have the message. */
export class SendFailure extends Error {
  readonly outcome: "refused" | "unknown";
  readonly retryAfterMs: number | undefined;

  constructor(message: string, outcome: "refused" | "unknown", retryAfterMs?: number) {
    super(message);
    this.name = "SendFailure";
    this.outcome = outcome;
    this.retryAfterMs = retryAfterMs;
  }
}

/** WhatsApp, as narrow as the bridge needs it. */
export interface WhatsApp {
  /** Connects once. Resolves when that connection has ended, or `signal` aborts. */
  run(hear: Hear, signal: AbortSignal): Promise<LinkEnd>;
  /** Makes the message for WhatsApp, and brings its file there. Nobody sees anything yet. @throws {SendFailure} */
  prepare(draft: Draft, signal: AbortSignal): Promise<Uint8Array>;
  /** Resolves once WhatsApp has taken the message. @throws {SendFailure} */
  relay(to: string, messageId: string, prepared: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Shows people that these messages were read. */
  markRead(messages: readonly Arrived["message"][]): Promise<void>;
  showTyping(to: string): Promise<void>;
  download(media: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Puts the login aside that WhatsApp does not take any more. The next run shows a code. */
  forgetLogin(): Promise<void>;
}

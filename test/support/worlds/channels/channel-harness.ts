/**
 * How to put a channel under the shared tests. A channel joins with two things besides its code:
 *
 * 1. a fake of its platform at the wire (a loopback HTTP, WebSocket, IMAP or SMTP server), and
 * 2. a `ChannelHarness` over that fake: what people do there, what they see there, and how it fails.
 *
 * Then one test file runs `testChannelEndToEnd(openHarness)` from `test/contracts/channel-end-to-end.ts`, and the name
 * goes into `test/faults/harnesses.ts`, so that the fault table of docs/reliability.md gets a row for each way to fail.
 * Both start a whole gateway with `channels.<name>` as the harness gives it, a scripted model behind it, and look only at
 * the platform, the model's wire and the session's log. What a platform has not (threads, edits, deletions, voice notes)
 * the harness leaves out, and those tests say nothing about it.
 */

export interface HarnessPerson {
  /** As session keys and `owners` have them. */
  readonly senderId: string;
  /** Their direct chat with the assistant. */
  readonly chatId: string;
}

export interface HarnessFile {
  readonly filename: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
  /** Sent as a spoken note. Only where {@link ChannelHarness.hasVoice}. */
  readonly isVoice?: boolean;
}

export interface HarnessMessage {
  readonly from: HarnessPerson;
  readonly text?: string;
  readonly files?: readonly HarnessFile[];
  /** Only where the harness has `threads`: one of them. */
  readonly thread?: string;
  /** The message that it answers: what the platform gives along of it. */
  readonly answers?: { readonly text: string; readonly isOurs: boolean };
}

/** A message of the assistant as people see it now: after formatting, and after its last edit. */
export interface ShownMessage {
  readonly text: string;
  readonly files: readonly { readonly filename: string; readonly bytes: Buffer }[];
}

/**
 * What happens to the next send of a text. `429` names a wait of one second where the platform can. `401` and `404`: the
 * platform refuses the token, three times, and then takes it as before. `cut-before`: the
 * connection breaks before the platform has it; `cut-after`: when it has been shown, without an answer; `timeout`: it is
 * shown, and no answer comes.
 */
export type SendFault = "429" | "401" | "404" | "5xx" | "cut-before" | "cut-after" | "timeout";

export interface ChannelHarness extends AsyncDisposable {
  /** The channel's name, as in the config. */
  readonly channel: string;
  /** As the fault table names it, where a channel has several ways. Absent: as the config. */
  readonly label?: string;
  /** The section `channels.<channel>` that connects a gateway to the fake. Without `allowFrom`, which tests set. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Two people that the gateway does not know. */
  readonly people: readonly [HarnessPerson, HarnessPerson];
  /** Two conversations beside each other in the first person's chat, where the platform has such a thing. */
  readonly threads?: readonly [string, string];
  readonly hasVoice: boolean;
  /** A file is always a message of its own: what is said about it comes in another. */
  readonly filesAlone?: boolean;
  /** What a message answers is only in its text: nobody vouches for whose words those were. */
  readonly quotesInText?: boolean;
  /** False: nothing says which message is answered. */
  readonly quotes?: boolean;
  /** The platform names an answered message only by its id: only what was said is known. */
  readonly quotesById?: boolean;
  /** What is written while nobody listens is lost: neither the platform nor the program between keeps it. */
  readonly forgetsUnheard?: boolean;
  /** People read an answer while it is written, in a message that grows. */
  readonly grows?: boolean;
  /** The platform tells repeated sends from new ones: nothing may be shown twice there, whatever happens. */
  readonly knowsRepeats: boolean;

  /** Somebody writes. Resolves with the platform's id once the platform has it. */
  write(message: HarnessMessage): Promise<string>;
  /** The person changes that message of theirs; absent where the platform has no edits. */
  edit?(messageId: string, message: HarnessMessage): Promise<void>;
  /** The person takes it back; absent where the assistant cannot hear about it. */
  remove?(messageId: string, message: HarnessMessage): Promise<void>;

  /** What is in the chat of the assistant's, oldest first. */
  shown(chatId: string, thread?: string): readonly ShownMessage[];
  /**
   * Every showing so far, repeats included: each text or file that the platform has put in front of people as a message of
   * its own, in order. An edit is none, and neither is a repeat that the platform has recognised and left out.
   */
  showings(chatId: string): readonly string[];
  /** Ways to fail that this platform has. */
  readonly faults: readonly SendFault[];
  failNextSend(fault: SendFault): void;
  /** The connection on which messages come in breaks once. */
  loseConnection(): void;
}

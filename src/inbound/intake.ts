import type { OpenQuestions, Responder } from "../agent/questions/open-questions.js";
import type { MessageBus } from "../bus/message-bus.js";
import type { Attachment, InboundMessage } from "../bus/messages.js";
import type { PressOutcome, PublishOutcome, ReceivedMessage, ReceivedPress } from "../channels/channel.js";
import type { Engine } from "../engine/engine.js";
import type { SessionLives } from "../events/session-lives.js";
import type { Logger } from "../log.js";
import type { OwnerClaims } from "../policy/owner-claims.js";
import type { Pairing } from "../policy/pairing.js";
import type { Policy, SpeechDecision } from "../policy/policy.js";
import type { RateLimiter } from "../policy/rate-limits.js";
import type { Answers } from "./answers.js";
import { type Arrival, toArrival } from "./arrival.js";
import { hasFiles, withoutQuotedFiles } from "./arrival-files.js";
import { LaneEntry } from "./lane-entry.js";
import { answerByPress } from "./presses.js";
import type { ReceivedFiles } from "./received-files.js";
import { createRecentTexts } from "./recent-texts.js";
import { Screening } from "./screening.js";
import { Speakers } from "./speakers.js";
import type { StuckChats } from "./stuck-chats.js";
import { Taking } from "./taking.js";
import { Urgency, type Words } from "./urgency.js";

export interface IntakePorts {
  /** Who may talk, and how much. */
  readonly people: {
    readonly policy: Policy;
    readonly pairing: Pairing;
    readonly claims: Pick<OwnerClaims, "take">;
    readonly rates: RateLimiter;
  };
  /** Where messages are kept. */
  readonly store: {
    readonly bus: MessageBus;
    /** What arrives while its session is being deleted is for the next one. */
    readonly lives: Pick<SessionLives, "run" | "runOrAgain">;
    readonly waiting: Engine["waiting"];
    /** The disk takes writes. */
    readonly isWritable: () => boolean;
    /** Brings older history of the chat in before its first message is stored. */
    readonly prepareSession: (sessionKey: string) => Promise<void>;
  };
  readonly words: Words;
  readonly questions: Pick<OpenQuestions, "screen" | "routeOf" | "of" | "isAnsweredBy">;
  readonly answers: Answers;
  readonly files: ReceivedFiles;
  readonly stuck: StuckChats;
  /** Unix ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** The one door through which messages come in, whatever the route. */
export class Intake {
  readonly #ports: IntakePorts;
  readonly #speakers: Speakers;
  readonly #screening: Screening;
  readonly #urgency: Urgency;
  readonly #lanes: LaneEntry;
  readonly #taking: Taking;

  constructor(ports: IntakePorts) {
    const { people, store, words, questions, files, stuck, log } = ports;
    const { bus, lives, waiting, isWritable, prepareSession } = store;
    const { policy, pairing, rates } = people;
    const recent = createRecentTexts();
    this.#ports = ports;
    this.#speakers = new Speakers({ policy, pairing, log });
    this.#screening = new Screening({ waiting, questions, files, rates, recent, log });
    this.#urgency = new Urgency(words, questions);
    this.#lanes = new LaneEntry({ bus, prepareSession, urgency: this.#urgency, log });
    this.#taking = new Taking({ bus, lives, isWritable, lanes: this.#lanes, files, stuck, recent, log });
  }

  /**
   * A channel's message. Resolves once it and its files are durable, or says why it is not taken. An abort leaves it with
   * its platform.
   */
  async receive(channel: string, received: ReceivedMessage, signal: AbortSignal): Promise<PublishOutcome> {
    const greeting = await this.#claimOf(channel, received);
    if (greeting !== undefined) return { status: "refused", reply: greeting };
    const decision = this.#speakers.decide(channel, received);
    if (!decision.allowed) return await this.#speakers.turnAway(channel, received, decision);
    const arrival = this.#arrivalOf(channel, received, decision);
    if (received.isLeftOut === true) return await this.#taking.leaveOut(arrival);
    if (arrival.message.change === "deleted") return await this.#takeDeletion(arrival, signal);
    const refusal = this.#screening.refusalOf(arrival);
    if (refusal !== undefined) return refusal;
    if (this.#urgency.actsAtOnce(arrival)) return await this.#take(withoutQuotedFiles(arrival), signal);
    const { sessionKey } = arrival.message;
    return await this.#lanes.inOrder(sessionKey, hasFiles(arrival), () => this.#take(arrival, signal));
  }

  /**
   * Whether a channel passes this message on before what its chat has sent earlier and is not taken yet: it stops what is
   * under way, answers what was asked, or will be refused, so that its channel has nothing to keep.
   */
  actsAtOnce(channel: string, received: ReceivedMessage): boolean {
    const decision = this.#speakers.decide(channel, received);
    return !decision.allowed || this.#urgency.actsAtOnce(this.#arrivalOf(channel, received, decision));
  }

  /** Whether a person is listened to, in a direct chat or in this group when they address the assistant there. */
  mayTalk(channel: string, senderId: string, groupId: string): boolean {
    const speaking = { chatId: groupId, senderId, addressed: true };
    return (["dm", "group"] as const).some(
      (chatType) => this.#speakers.decide(channel, { ...speaking, chatType }).allowed,
    );
  }

  /** A pressed button: the answer to a question. Never rejects. */
  async press(channel: string, press: ReceivedPress): Promise<PressOutcome> {
    const decision = this.#speakers.decide(channel, { ...press, addressed: true });
    if (!decision.allowed) return { status: "refused", text: "You may not answer here." };
    return await answerByPress(press, responder(channel, press.senderId, decision), this.#ports);
  }

  /**
   * A message of an owner who has been identified otherwise (page, terminal, HTTP). `take` brings its files to where tools
   * can read them; what it throws keeps the message out.
   *
   * @throws {EngineError}
   */
  async submit(
    message: InboundMessage,
    take?: () => Promise<readonly Attachment[]>,
  ): Promise<"accepted" | "duplicate"> {
    const lanes = this.#lanes;
    const { lives } = this.#ports.store;
    const { sessionKey } = message;
    // Of its own order: nobody at a screen waits for what a channel fetches.
    const acceptance = await lanes.inOrder(`client ${sessionKey}`, take !== undefined, () =>
      lives.runOrAgain(sessionKey, async (life) => {
        if (take === undefined) return await lanes.accept(message, life);
        await lanes.prepare(sessionKey);
        return await lanes.accept({ ...message, attachments: await take() }, life);
      }),
    );
    return acceptance.status;
  }

  /**
   * Has a failed turn tried again, in the present life of its session only. `mayStill` is asked once that cannot end
   * unnoticed any more, and throws where it has to stay as it is.
   *
   * @throws {EngineError} `fenced` while the session is being deleted
   */
  async again(message: InboundMessage, mayStill: () => Promise<void>): Promise<"accepted" | "duplicate"> {
    const { lives } = this.#ports.store;
    const { sessionKey } = message;
    // One that is asked for at the same moment finds the other one accepted.
    const acceptance = await this.#lanes.inOrder(`again ${sessionKey}`, true, () =>
      lives.run(sessionKey, async (life) => {
        await mayStill();
        return await this.#lanes.accept(message, life);
      }),
    );
    return acceptance.status;
  }

  /** The code that the owner's page shows, no matter who sends it: it comes before the question who may talk. */
  async #claimOf(channel: string, received: ReceivedMessage): Promise<string | undefined> {
    const { chatType, outside, change, content, senderId, senderName } = received;
    if (chatType !== "dm" || outside !== undefined || change !== undefined) return undefined;
    return await this.#ports.people.claims.take(channel, { senderId, senderName }, content);
  }

  /** In its place among the chat's messages, also while it is looked up whether it changes anything. */
  async #takeDeletion(arrival: Arrival, signal: AbortSignal): Promise<PublishOutcome> {
    return await this.#lanes.inOrder(arrival.message.sessionKey, true, async () => {
      if (await this.#screening.isUselessDeletion(arrival)) return { status: "refused" };
      return this.#screening.refusalOf(arrival) ?? (await this.#take(arrival, signal));
    });
  }

  /** What is not taken does not count for the rate limits. */
  async #take(arrival: Arrival, signal: AbortSignal): Promise<PublishOutcome> {
    let outcome: PublishOutcome | undefined;
    try {
      outcome = await this.#taking.take(arrival, signal);
      return outcome;
    } finally {
      if (outcome?.status !== "accepted") this.#screening.giveBack(arrival);
    }
  }

  #arrivalOf(channel: string, received: ReceivedMessage, decision: Allowed): Arrival {
    const { questions, now } = this.#ports;
    const from = responder(channel, received.senderId, decision);
    return toArrival(received, { from, receivedAt: now() }, questions);
  }
}

type Allowed = Extract<SpeechDecision, { allowed: true }>;

function responder(channel: string, senderId: string, { role }: Allowed): Responder {
  return { channel, senderId, isOwner: role === "owner", isPrivate: false };
}

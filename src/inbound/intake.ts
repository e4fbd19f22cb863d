import type { OpenQuestions } from "../agent/questions/open-questions.js";
import type { MessageBus } from "../bus/message-bus.js";
import type { Attachment, InboundMessage } from "../bus/messages.js";
import type { PressOutcome, PublishOutcome, ReceivedMessage, ReceivedPress } from "../channels/channel.js";
import type { Acceptance, Engine } from "../engine/engine.js";
import { EngineError, messageOf } from "../errors.js";
import { sessionKeyOf } from "../events/session-key.js";
import type { Logger } from "../log.js";
import type { Pairing } from "../policy/pairing.js";
import type { Policy, SpeechDecision } from "../policy/policy.js";
import type { RateLimiter } from "../policy/rate-limits.js";
import { InOrder } from "../util/async/in-order.js";
import { within } from "../util/async/within.js";
import { newId } from "../util/ids.js";
import type { Answers } from "./answers.js";
import type { ReceivedFiles } from "./received-files.js";
import { createRecentTexts } from "./recent-texts.js";
import type { StuckChats } from "./stuck-chats.js";

export interface IntakePorts {
  readonly bus: MessageBus;
  readonly waiting: Engine["waiting"];
  /** The disk takes writes. */
  readonly isWritable: () => boolean;
  readonly stuck: StuckChats;
  /** The text is a command. */
  readonly isCommand: (content: string) => boolean;
  /** The text stops what is under way. */
  readonly asksToStop: (content: string) => boolean;
  readonly policy: Policy;
  readonly pairing: Pairing;
  readonly rates: RateLimiter;
  readonly questions: Pick<OpenQuestions, "screen" | "routeOf" | "of" | "isAnsweredBy">;
  readonly answers: Answers;
  readonly files: ReceivedFiles;
  /** Brings older history of the chat in before its first message is stored. */
  readonly prepareSession: (sessionKey: string) => Promise<void>;
  /** Unix ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** The one door through which messages come in, whatever the route. */
export interface Intake {
  /**
   * A channel's message. Resolves once it and its files are durable, or says why it is not taken. An abort leaves it with
   * its platform.
   */
  receive(channel: string, received: ReceivedMessage, signal: AbortSignal): Promise<PublishOutcome>;
  /**
   * Whether a channel passes this message on before what its chat has sent earlier and is not taken yet: it stops what is
   * under way, answers what was asked, or will be refused, so that its channel has nothing to keep.
   */
  actsAtOnce(channel: string, received: ReceivedMessage): boolean;
  /** A pressed button: the answer to a question. Never rejects. */
  press(channel: string, press: ReceivedPress): Promise<PressOutcome>;
  /**
   * A message of an owner who has been identified otherwise (page, terminal, HTTP). `take` brings its files to where tools
   * can read them; what it throws keeps the message out.
   *
   * @throws {EngineError}
   */
  submit(message: InboundMessage, take?: () => Promise<readonly Attachment[]>): Promise<"accepted" | "duplicate">;
}

/** What the sender of a message hears that is left with its platform. */
const waitsBecause: Partial<Readonly<Record<EngineError["kind"], string>>> = {
  persistence: "I cannot write to my disk right now. Your message waits, and I take it as soon as there is room.",
  unreadable: "I cannot read my disk right now. Your message waits, and I take it as soon as I can.",
};
/** Longer than this nobody waits for the past of a session, which a storage elsewhere may keep. */
const longestPrepareMs = 5000;
const silence: PublishOutcome = { status: "refused" };

export function createIntake(ports: IntakePorts): Intake {
  const { bus, policy, pairing, rates, questions, answers, files, prepareSession, stuck, asksToStop, now, log } = ports;
  const recent = createRecentTexts();
  /** Sessions in which a message waits for its files: what is behind it waits as well. */
  const tails = new InOrder<string>();

  const publish = async (message: InboundMessage, cursor: ReceivedMessage["cursor"]): Promise<Acceptance> => {
    try {
      await within(prepareSession(message.sessionKey), { ms: longestPrepareMs });
    } catch (error) {
      // Whatever is wrong with its past, the message itself can be kept; its turn says what it could not read.
      log.warn(`The session of a message could not be read: ${messageOf(error)}`, { session: message.sessionKey });
    }
    const { content, sessionKey } = message;
    // Also where a text may be an answer.
    const hasRoomAnyway = ports.isCommand(content) || asksToStop(content) || questions.of(sessionKey) !== undefined;
    return await bus.publishInbound(message, { cursor, isUrgent: hasRoomAnyway });
  };

  const inOrder = async <T>(sessionKey: string, takesTime: boolean, work: () => Promise<T>): Promise<T> => {
    return tails.isBusy(sessionKey) || takesTime ? await tails.run(work, sessionKey) : await work();
  };

  const refuse = async (
    channel: string,
    { senderId, senderName }: ReceivedMessage,
    { reason }: Extract<SpeechDecision, { allowed: false }>,
  ): Promise<PublishOutcome> => {
    if (reason !== "needs_pairing") return silence;
    const { code, isNew } = await pairing.request(channel, senderId, senderName);
    log.info(`${channel}: sender ${senderId} asks to be paired`, { sender: senderId });
    return isNew ? { status: "refused", reply: pairingText(code) } : silence;
  };

  /** Whether an edit or a deletion is of any use now. */
  const changesNothing = ({ change, sessionKey, platformMessageId, content }: InboundMessage): boolean => {
    if (change === undefined) return false;
    const waits = ports
      .waiting("inbound", sessionKey)
      .some(({ attempts, body }) => attempts === 0 && body.platformMessageId === platformMessageId);
    if (change === "deleted") return !waits;
    return content === "" || recent.isSame(sessionKey, platformMessageId, content);
  };

  /** The outcome for what is not even looked at; undefined for all else. */
  const screen = (inbound: InboundMessage, received: ReceivedMessage, isOwner: boolean): PublishOutcome | undefined => {
    const { channel, sessionKey, senderId } = inbound;
    if (changesNothing(inbound)) return silence;
    const refusal =
      inbound.change === "deleted"
        ? undefined
        : questions.screen(sessionKey, inbound, { channel, senderId, isOwner, isPrivate: false });
    if (refusal !== undefined) return { status: "refused", reply: refusal };
    if (received.unreadable !== undefined && inbound.content === "")
      return recent.isFirst(`${sessionKey} ${received.unreadable}`)
        ? { status: "refused", reply: `I cannot read ${received.unreadable}. Please tell me in words.` }
        : silence;
    const tooLarge = (received.files ?? []).map(files.refusalOf);
    if (inbound.content === "" && tooLarge.length > 0 && tooLarge.every((sentence) => sentence !== undefined))
      return { status: "refused", reply: tooLarge.join("\n") };
    const over = isOwner ? undefined : rates.take(`${channel}:${senderId}`, `${channel}:${inbound.chatId}`);
    if (over === undefined) return undefined;
    log.warn(`${channel}: too many messages in a minute`, { sender: senderId, chat: inbound.chatId });
    return over.isFirst ? { status: "refused", reply: tooFast(over.waitMs) } : silence;
  };

  /** What answers a sub-agent's question belongs to the session that asks. */
  const routed = (inbound: InboundMessage, isOwner: boolean): InboundMessage => {
    const { channel, senderId, sessionKey, content, change, outside } = inbound;
    if (change !== undefined || outside !== undefined) return inbound;
    const responder = { channel, senderId, isOwner, isPrivate: false };
    return { ...inbound, sessionKey: questions.routeOf(sessionKey, content, responder) };
  };

  /** The one rule for what waits for nothing else of its chat. Files of its own have to be fetched first. */
  const isUrgent = (
    inbound: InboundMessage,
    { files: sent = [], quotedFiles = [] }: ReceivedMessage,
    isOwner: boolean,
  ) => {
    const { content, sessionKey, channel, senderId, change, outside } = inbound;
    if (sent.length > 0) return false;
    if (asksToStop(content)) return true;
    if (change !== undefined || outside !== undefined || quotedFiles.length > 0) return false;
    return questions.isAnsweredBy(sessionKey, content, { channel, senderId, isOwner, isPrivate: false });
  };

  const decide = (channel: string, { senderId, chatType, addressed, chatId }: ReceivedMessage): SpeechDecision =>
    policy.maySpeak({ channel, chatId, senderId, chatType, addressed }, pairing.isPaired);

  const leaveOut = async (inbound: InboundMessage, { cursor }: ReceivedMessage): Promise<PublishOutcome> => {
    const { channel, sessionKey } = inbound;
    try {
      if (!(await bus.refuseInbound(inbound, cursor))) return { status: "duplicate" };
    } catch (error) {
      if (error instanceof EngineError) return { status: "busy", reply: "" };
      throw error;
    }
    log.warn(`${channel}: a message was left out, because too many of its chat wait`, { session: sessionKey });
    const isFull = new EngineError("Too many messages wait to be taken", { kind: "lane_full" });
    return { status: "refused", ...stuck.refusalFor(sessionKey, isFull) };
  };

  const withFiles = async (
    message: InboundMessage,
    { files: sent = [], quotedFiles = [], dedupId, platformMessageId = "", hasFilesOfOthers }: ReceivedMessage,
    signal: AbortSignal,
  ): Promise<{ readonly message: InboundMessage; readonly refusals: readonly string[] }> => {
    if (sent.length + quotedFiles.length === 0) return { message, refusals: [] };
    const { sessionKey, content, quoted, replyTo } = message;
    const id = dedupId ?? platformMessageId;
    await prepareSession(sessionKey).catch(() => undefined);
    const isTheirOwn = message.outside === undefined && hasFilesOfOthers !== true;
    const by = isTheirOwn ? `${message.channel}:${message.senderId}` : undefined;
    const own = await files.take(sessionKey, id, sent, by, signal);
    const theirs = await files.take(sessionKey, `quoted:${replyTo ?? id}`, quotedFiles, undefined, signal);
    return {
      message: {
        ...message,
        content: textOf([...own.notes, content]),
        ...(quoted === undefined ? {} : { quoted: { ...quoted, text: textOf([quoted.text, ...theirs.notes]) } }),
        attachments: [...own.attachments, ...theirs.attachments],
      },
      refusals: [...own.refusals, ...theirs.refusals],
    };
  };

  /** Outside of any turn, in the order of the chat's other messages. */
  const tell = async (to: InboundMessage, sentence: string, causedBy: string | undefined): Promise<void> => {
    const { channel, chatId, thread, sessionKey, id } = to;
    try {
      const out = { id: `${id}-told#1`, channel, chatId, thread, sessionKey, content: sentence, attachments: [] };
      await bus.publishOutbound({ ...out, correlationId: id, queuedEventId: newId("evt") }, causedBy);
    } catch (error) {
      log.warn(`${channel}: a notice was not queued: ${messageOf(error)}`, { chat: chatId });
    }
  };

  /** It fails while the chats beside it go on. */
  const isOfChat = ({ kind }: EngineError): boolean =>
    kind === "lane_full" ||
    kind === "corrupt" ||
    ((kind === "persistence" || kind === "unreadable") && ports.isWritable());

  const take = async (
    inbound: InboundMessage,
    received: ReceivedMessage,
    signal: AbortSignal,
  ): Promise<PublishOutcome> => {
    const { channel, senderId, chatId } = inbound;
    let isTaken = false;
    try {
      const { message, refusals } = await withFiles(inbound, received, signal);
      const acceptance = await publish(message, received.cursor);
      if (acceptance.status === "duplicate") return { status: "duplicate" };
      isTaken = true;
      stuck.end(message.sessionKey);
      recent.keep(message.sessionKey, message.platformMessageId, inbound.content);
      const [queued] = acceptance.events;
      if (refusals.length > 0) await tell(message, refusals.join("\n"), queued?.event_id);
      return { status: "accepted" };
    } catch (error) {
      // The platform hands it out again at the next start.
      if (signal.aborted) return { status: "busy", reply: "" };
      if (!(error instanceof EngineError)) throw error;
      log.warn(`${channel}: a message was not taken: ${error.message}`, { sender: senderId, chat: chatId });
      const refusal = isOfChat(error) ? stuck.refusalFor(inbound.sessionKey, error) : undefined;
      if (refusal === undefined) return { status: "busy", reply: waitsBecause[error.kind] ?? "" };
      // A platform with a position may give it again by itself; all others only if somebody wants it so.
      if (received.cursor !== undefined) await bus.refuseInbound(inbound, received.cursor);
      return { status: "refused", ...refusal };
    } finally {
      if (!isTaken) rates.giveBack(`${channel}:${senderId}`, `${channel}:${chatId}`);
    }
  };

  return {
    async receive(channel, received, signal) {
      const decision = decide(channel, received);
      if (!decision.allowed) return await refuse(channel, received, decision);
      const isOwner = decision.role === "owner";
      const inbound = routed(toInbound(channel, received, now()), isOwner);
      if (received.isLeftOut === true) return await leaveOut(inbound, received);
      const refused = screen(inbound, received, isOwner);
      if (refused !== undefined) return refused;
      const { files: sent = [], quotedFiles = [] } = received;
      const takesTime = sent.length + quotedFiles.length > 0;
      // What somebody points at who wants a stop need not be fetched.
      if (isUrgent(inbound, received, isOwner)) return await take(inbound, { ...received, quotedFiles: [] }, signal);
      return await inOrder(inbound.sessionKey, takesTime, () => take(inbound, received, signal));
    },
    actsAtOnce(channel, received) {
      const decision = decide(channel, received);
      if (!decision.allowed) return true;
      const isOwner = decision.role === "owner";
      return isUrgent(routed(toInbound(channel, received, now()), isOwner), received, isOwner);
    },
    async press(channel, { chatId, thread, chatType, senderId, value }) {
      const decision = policy.maySpeak({ channel, chatId, senderId, chatType, addressed: true }, pairing.isPaired);
      if (!decision.allowed) return { status: "refused", text: "You may not answer here." };
      const colon = value.indexOf(":");
      const request = {
        sessionKey: sessionKeyOf(channel, chatId, thread),
        requestId: value.slice(0, Math.max(0, colon)),
        text: value.slice(colon + 1),
      };
      try {
        const isOwner = decision.role === "owner";
        const outcome = await answers.answer(request, { channel, senderId, isOwner, isPrivate: false });
        return outcome.status === "taken" ? outcome : { status: "refused", text: outcome.reason };
      } catch (error) {
        log.warn(`${channel}: an answer could not be stored: ${messageOf(error)}`, { sender: senderId });
        return { status: "busy", text: "I could not write this down. Please press it again in a moment." };
      }
    },
    async submit(message, take) {
      const { sessionKey } = message;
      // Of its own order: nobody at a screen waits for what a channel fetches.
      const acceptance = await inOrder(`client ${sessionKey}`, take !== undefined, async () => {
        if (take === undefined) return await publish(message, undefined);
        await prepareSession(sessionKey).catch(() => undefined);
        return await publish({ ...message, attachments: await take() }, undefined);
      });
      return acceptance.status;
    },
  };
}

function textOf(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

function tooFast(waitMs: number): string {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return `That is more than I can take in a minute. Please write again in ${seconds} s; what you send before that is left out.`;
}

function pairingText(code: string): string {
  return `I do not know you yet. Ask the owner of this assistant to run:\n\nmaxclaw pair approve ${code}\n\nThe code is valid for 10 minutes.`;
}

function toInbound(channel: string, received: ReceivedMessage, receivedAt: number): InboundMessage {
  const {
    chatType: _chatType,
    addressed: _addressed,
    cursor: _cursor,
    files: _files,
    quotedFiles: _quotedFiles,
    unreadable: _unreadable,
    hasFilesOfOthers: _hasFilesOfOthers,
    isLeftOut: _isLeftOut,
    ...rest
  } = received;
  return {
    ...rest,
    attachments: [],
    id: newId("msg"),
    channel,
    sessionKey: sessionKeyOf(channel, received.chatId, received.thread),
    receivedAt,
  };
}

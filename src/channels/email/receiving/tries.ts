import { ChannelError } from "../../../errors.js";
import { backoffMs } from "../../../util/async/backoff.js";
import { within } from "../../../util/async/within.js";
import type { ChannelContext, Publish, ReceivedMessage } from "../../channel.js";
import { checkSender } from "../auth/sender.js";
import type { Recipients } from "../auth/signed.js";
import type { Line, Tries, Try } from "../line.js";
import { toReceived } from "../message.js";
import type { HourlyCap } from "../sending/hourly-cap.js";
import { saidIn } from "../text/said.js";
import type { MailContent } from "./content.js";
import type { KnownMail, KnownMails } from "./known.js";
import { contentOf, fetchMail, fetchSource, type Mail, type Mailbox, markSeen } from "./mail.js";
import type { Positions } from "./positions.js";

/** What a mail is passed on with. */
export interface TryPorts {
  readonly known: KnownMails;
  readonly positions: Positions;
  readonly hourly: HourlyCap;
  /** Says something to the author outside the outbound queue; must not reject. */
  readonly tell: (message: ReceivedMessage, text: string) => Promise<void>;
  readonly publish: Publish;
  readonly actsAtOnce: ChannelContext["actsAtOnce"];
}

export interface TryScope extends TryPorts {
  readonly mailbox: Mailbox;
  readonly line: Line;
}

/** Of one try to check a sender: a name server may never answer. */
const longestCheckMs = 60_000;
const tooSlow = new Error("its name servers did not answer in time");
const longestVerifyMs = 4 * 3600 * 1000;
const longestRetryMs = 15 * 60_000;
const mostFaults = 5;
const done: Try = { isDone: true };

/** What is to be done for a mail until it is settled; what has been found out is kept from one try to the next. */
export class MailTries implements Tries {
  readonly #scope: TryScope;
  readonly #mail: Mail;
  readonly #began = Date.now();
  readonly #told = new Set<string>();
  #isVerified: boolean | undefined;
  #recipients: Recipients | undefined;
  #content: MailContent | undefined;
  #message: ReceivedMessage | undefined;
  #record: KnownMail | undefined;
  /** Tries to check its sender. */
  #checks = 0;
  #faults = 0;

  constructor(scope: TryScope, mail: Mail) {
    this.#scope = scope;
    this.#mail = mail;
  }

  async read(signal: AbortSignal): Promise<Try> {
    if (this.#isVerified === undefined) {
      const ended = await this.#verify(signal);
      if (ended !== undefined) return ended;
    }
    this.#message ??= await this.#open(signal);
    return done;
  }

  isOver(): boolean {
    return this.#message === undefined;
  }

  isNext(): boolean {
    return this.#message !== undefined && this.#scope.actsAtOnce?.(this.#message) === true;
  }

  async pass(): Promise<Try> {
    if (this.#content === undefined) return done;
    // Made again: since it was read ahead of its turn, an earlier mail that it quotes may have been refused.
    const message = this.#messageOf(this.#content);
    const { log, receiving } = this.#scope.mailbox.options;
    const { busyRetryMs = 2000 } = receiving;
    try {
      return await this.#pass(message, busyRetryMs);
    } catch (error) {
      if (error instanceof ChannelError) throw error;
      log.error("a mail could not be passed on", { ...this.#about, error });
      this.#faults += 1;
      if (this.#faults < mostFaults) return { isDone: false, waitMs: busyRetryMs };
      await this.#say(message, "Sorry, this mail could not be taken. Please send it again.");
      return await this.#leave();
    }
  }

  async #verify(signal: AbortSignal): Promise<Try | undefined> {
    const { connection, options } = this.#scope.mailbox;
    const { log, receiving } = options;
    const { verifyRetryMs = 30_000 } = receiving;
    if (receiving.verifySender === "off") {
      this.#isVerified = false;
      return undefined;
    }
    const { head, arrivedAt, source: start } = this.#mail;
    const source = () => fetchSource(connection, this.#mail);
    const checked = checkSender({ head, arrivedAt, start, source }, receiving);
    const check = await within(checked, { signal, ms: longestCheckMs, late: () => tooSlow }).catch((error: unknown) => {
      if (error !== tooSlow) throw error;
      return { verdict: "later", why: tooSlow.message } as const;
    });
    if (check.verdict === "later" && Date.now() - this.#began < longestVerifyMs) {
      this.#checks += 1;
      log.warn(`the sender of a mail cannot be checked now: ${check.why}`, this.#about);
      const waitMs = backoffMs(this.#checks, { firstMs: verifyRetryMs, longestMs: longestRetryMs });
      return { isDone: false, waitMs };
    }
    if (check.verdict !== "verified") {
      log.warn(`a mail is left alone, as its sender is not verified: ${check.why}`, this.#about);
      return done;
    }
    this.#isVerified = true;
    this.#recipients = check.recipients;
    if ("doubt" in check.recipients)
      log.info(`a mail counts as text of others: ${check.recipients.doubt}`, this.#about);
    return undefined;
  }

  async #open(signal: AbortSignal): Promise<ReceivedMessage> {
    const { known, mailbox } = this.#scope;
    const { head, arrivedAt } = this.#mail;
    const content = await contentOf(mailbox, this.#mail, signal);
    const message = this.#messageOf(content);
    this.#content = content;
    // Before the mail is accepted, as the answer needs it: its subject, and what it answered.
    this.#record = {
      id: head.messageId,
      chatId: message.chatId,
      thread: message.thread,
      subject: head.subject,
      references: [...head.references],
      isOurs: false,
      said: saidIn(content.text, content.nested),
      at: arrivedAt.getTime(),
    };
    await known.keep(this.#record);
    return message;
  }

  #messageOf(content: MailContent): ReceivedMessage {
    const { known, mailbox } = this.#scope;
    const { options } = mailbox;
    return toReceived(this.#mail.head, content, { known, options, recipients: this.#recipients });
  }

  async #pass(message: ReceivedMessage, busyRetryMs: number): Promise<Try> {
    const { hourly, positions, line, publish, mailbox } = this.#scope;
    const { log, receiving } = mailbox.options;
    const { from: address } = this.#about;
    const arrivedAt = this.#mail.arrivedAt.getTime();
    if (!hourly.take(address, arrivedAt)) {
      log.warn(
        `more than ${receiving.hourlyPerSender} mails of a sender in an hour: this one is left alone`,
        this.#about,
      );
      return await this.#leave();
    }
    const value = `${mailbox.validity}:${line.positionAfter(this.#mail.uid)}`;
    const outcome = await publish({ ...message, cursor: { name: positions.cursorName, value } });
    if (outcome.status !== "accepted") hourly.giveBack(address, arrivedAt);
    if (outcome.status === "busy") {
      await this.#say(message, outcome.reply);
      return { isDone: false, waitMs: busyRetryMs };
    }
    if (outcome.status === "refused") {
      await this.#say(message, outcome.reply ?? "");
      return await this.#leave();
    }
    if (receiving.markSeen) await markSeen(mailbox, this.#mail);
    return done;
  }

  async #say(message: ReceivedMessage, text: string): Promise<void> {
    // An address that nobody vouches for may belong to somebody else, who has written nothing.
    if (text === "" || this.#isVerified !== true || this.#told.has(text)) return;
    this.#told.add(text);
    await this.#scope.tell(message, text);
  }

  /** No conversation holds what it said: a quote of it is news. */
  async #leave(): Promise<Try> {
    if (this.#record !== undefined) await this.#scope.known.keep({ ...this.#record, said: undefined });
    return done;
  }

  get #about(): { readonly uid: number; readonly from: string } {
    return { uid: this.#mail.uid, from: this.#mail.head.from?.address ?? "" };
  }
}

/** Of a mail that is fetched again when its turn comes. */
export class LaterTries implements Tries {
  readonly #scope: TryScope;
  readonly #uid: number;
  #tries: MailTries | undefined;

  constructor(scope: TryScope, uid: number) {
    this.#scope = scope;
    this.#uid = uid;
  }

  async read(signal: AbortSignal): Promise<Try> {
    if (this.#tries === undefined) {
      const mail = await fetchMail(this.#scope.mailbox.connection, this.#uid);
      if (mail === undefined) return done;
      this.#tries = new MailTries(this.#scope, mail);
    }
    return await this.#tries.read(signal);
  }

  async pass(): Promise<Try> {
    return (await this.#tries?.pass()) ?? done;
  }

  isNext(): boolean {
    return false;
  }

  isOver(): boolean {
    return this.#tries?.isOver() ?? true;
  }
}

import { LRUCache } from "lru-cache";
import type { InboundMessage } from "../../bus/messages.js";
import type { Payload } from "../../events/catalogue.js";
import { isBelow } from "../../events/session-key.js";
import { visible } from "../../util/text/visible.js";
import { parseCommand } from "../commands/chat-command.js";
import { type Choice, choiceOf, expectedAnswers, isForOwner, isYes, optionOf, ownersReason } from "./answers.js";
import { isStopPhrase } from "./interrupt-phrases.js";

/** A question that waits for a person. */
export interface OpenQuestion {
  readonly sessionKey: string;
  /** The chat that it is asked in, as a session key: another one for sub-agents, and for jobs with a conversation of their own. */
  readonly chatKey: string;
  readonly asked: Payload<"human_input_asked">;
  /** Whose turn it is. */
  readonly asker: { readonly channel: string; readonly senderId: string; readonly name?: string | undefined };
}

/** Who answers. `isPrivate`: on the page or in the terminal, where a secret may be typed. */
export interface Responder {
  readonly channel: string;
  readonly senderId: string;
  readonly isOwner: boolean;
  readonly isPrivate: boolean;
}

export interface Reply {
  /** An option's id, number or label, one's own words, `/approve` or `/deny`. */
  readonly text: string;
  /** Names of the secrets that were given. */
  readonly values?: readonly string[] | undefined;
}

export type Answer = Choice & {
  readonly responderId: string;
  /** The accepted message that was the answer. */
  readonly messageId?: string | undefined;
};

export interface Refusal {
  readonly code: "not_found" | "closed" | "forbidden" | "wrong_place" | "bad_answer";
  /** One sentence for the person. */
  readonly reason: string;
}

/** The right to answer a question, held by one reply at a time. Ends with exactly one of the two. */
export interface Reservation {
  readonly choice: Choice;
  /** Names of the secrets that were asked for. */
  readonly fields: readonly string[];
  /** Resolves once the answer is durable. When it cannot be stored the question is open again. */
  commit(messageId?: string): Promise<void>;
  /** The question is open again. */
  cancel(): void;
}

interface Entry extends OpenQuestion {
  /** The turn that asks runs at another node. */
  readonly isElsewhere: boolean;
  readonly take: (answer: Answer) => Promise<void>;
  state: "open" | "reserved" | "closed";
  /** The owner's chat that it was passed on to, as `channel:sender`. */
  alsoIn: string | undefined;
  /** Called when a reservation was given back. */
  onFree: (() => void) | undefined;
}

const rememberedClosed = 1000;

/** The open questions of this process: the first valid answer counts, every other one is refused with its reason. */
export class OpenQuestions {
  readonly #entries = new Map<string, Entry>();
  /** How the latest closed questions ended, oldest first. */
  readonly #closed = new LRUCache<string, string>({ max: rememberedClosed });
  readonly #watchers = new Set<(requestId: string) => void>();
  readonly #listeners = new Set<(question: OpenQuestion) => void>();

  /** `take` makes an answer durable. Disposing closes the question; `endedAs` then says how, to an answer that comes late. */
  open(question: OpenQuestion, take: (answer: Answer) => Promise<void>): QuestionHandle {
    const id = question.asked.request_id;
    const entry: Entry = {
      ...question,
      take,
      isElsewhere: false,
      state: "open",
      alsoIn: undefined,
      onFree: undefined,
    };
    this.#add(id, entry);
    for (const listener of [...this.#listeners]) listener(question);
    return {
      close: (endedAs) => this.#close(id, entry, endedAs),
      reserve: () => {
        if (entry.state !== "open") return false;
        entry.state = "closed";
        return true;
      },
      whenFree: () =>
        new Promise((resolve) => {
          if (entry.state !== "reserved") return resolve();
          entry.onFree = resolve;
        }),
    };
  }

  /**
   * Shows a question that a turn of another node asks: what people write here is taken as its answer, and goes there.
   * Returns what ends it.
   */
  openElsewhere(question: OpenQuestion): () => void {
    const id = question.asked.request_id;
    const take = (): Promise<void> => Promise.reject(new Error(`The question ${id} is asked by another node`));
    const common = { state: "open" as const, alsoIn: undefined, onFree: undefined };
    const entry: Entry = { ...question, ...common, take, isElsewhere: true };
    this.#add(id, entry);
    return () => {
      // How it has ended is known where it was asked.
      if (this.#entries.get(id) === entry) this.#entries.delete(id);
    };
  }

  /** True where another node has to take the answer. */
  isElsewhere(requestId: string): boolean {
    return this.#entries.get(requestId)?.isElsewhere === true;
  }

  /** True for one that a turn of this process asks, or has asked. */
  isOwn(requestId: string): boolean {
    return this.#entries.get(requestId)?.isElsewhere === false || this.#closed.has(requestId);
  }

  /** `listener` gets each question that opens, also those that an earlier process had asked. Returns the undo. */
  onOpened(listener: (question: OpenQuestion) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** It may be answered in this chat of an owner as well. */
  showIn(requestId: string, chat: string): void {
    const entry = this.#entries.get(requestId);
    if (entry !== undefined) entry.alsoIn = chat;
  }

  list(): readonly OpenQuestion[] {
    return [...this.#entries.values()].filter(({ state }) => state === "open");
  }

  has(requestId: string): boolean {
    return this.#entries.has(requestId);
  }

  /** True where an open question may be answered in the chat of this session. */
  isAskedIn(requestId: string, sessionKey: string): boolean {
    const entry = this.#entries.get(requestId);
    return entry !== undefined && isAskedIn(entry, sessionKey);
  }

  /** The open question of a session. There is one at most. */
  of(sessionKey: string): OpenQuestion | undefined {
    return this.list().find((entry) => entry.sessionKey === sessionKey);
  }

  /**
   * The session whose question this text answers in the chat of `sessionKey`: its own, or the newest one that a
   * sub-agent or a job has asked there, if this reads like an answer.
   */
  routeOf(sessionKey: string, text: string, responder: Responder): string {
    if (this.of(sessionKey) !== undefined) return sessionKey;
    const asking = [...this.#entries.values()].findLast((each) => each.state === "open" && isAskedIn(each, sessionKey));
    if (asking === undefined) return sessionKey;
    const { asked } = asking;
    // Where it was passed on to there is a conversation of its own: what does not name an option belongs to that.
    const isElsewhere = isPassedOnTo(asking, sessionKey) && asked.kind !== "env_var" && asked.options.length > 0;
    if (isElsewhere && !isMeantAsAnswer(asked, text)) return sessionKey;
    if (isMeantAsAnswer(asked, text)) return asking.sessionKey;
    return mayAnswer(asking, responder) && isTakenAsAnswer(asked, text) ? asking.sessionKey : sessionKey;
  }

  /** Whether somebody is asked something in the chat of this session. */
  isAskingIn(sessionKey: string): boolean {
    // Where a question was passed on to, nothing waits for it.
    return [...this.#entries.values()].some(
      (each) => each.state === "open" && isAskedIn(each, sessionKey) && !isPassedOnTo(each, sessionKey),
    );
  }

  /** Whether this text is taken as the answer to the open question of this session. */
  isAnsweredBy(sessionKey: string, text: string, responder: Responder): boolean {
    const entry = this.of(sessionKey);
    if (entry === undefined || !mayAnswer(entry, responder)) return false;
    return isMeantAsAnswer(entry.asked, text) || isTakenAsAnswer(entry.asked, text);
  }

  /** Resolves with true once the question is open here, at once if it is; with false when `signal` aborts before. */
  appears(requestId: string, signal: AbortSignal): Promise<boolean> {
    if (this.#entries.has(requestId) || this.#closed.has(requestId)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (found: boolean): void => {
        this.#watchers.delete(watch);
        signal.removeEventListener("abort", onAbort);
        resolve(found);
      };
      const watch = (id: string): void => {
        if (id === requestId) settle(true);
      };
      const onAbort = (): void => settle(false);
      if (signal.aborted) return resolve(false);
      this.#watchers.add(watch);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Checks the answer and takes the question for it, at once. */
  reserve(requestId: string, reply: Reply, responder: Responder): Reservation | Refusal {
    const entry = this.#entries.get(requestId);
    const refusal = this.#refusalOf(requestId, entry, reply, responder);
    if (refusal !== undefined) return refusal;
    const choice = entry && choiceFor(entry, reply);
    if (entry === undefined || choice === undefined)
      return { code: "bad_answer", reason: `Please answer with ${entry ? expectedAnswers(entry.asked) : "a value"}.` };
    entry.state = "reserved";
    const giveBack = (): void => {
      entry.state = "open";
      entry.onFree?.();
    };
    return {
      choice,
      fields: entry.asked.fields ?? [],
      cancel: giveBack,
      async commit(messageId) {
        try {
          await entry.take({ ...choice, responderId: responderIdOf(responder), messageId });
        } catch (error) {
          giveBack();
          throw error;
        }
        entry.state = "closed";
        entry.onFree?.();
      },
    };
  }

  /**
   * The sentence with which a chat message is turned away before it is stored, if it must be: it answers somebody
   * else's question, or it may hold the secret that is asked for elsewhere.
   */
  screen(
    sessionKey: string,
    { content: text, outside }: Pick<InboundMessage, "content" | "outside">,
    responder: Responder,
  ): string | undefined {
    const entry = this.of(sessionKey);
    if (entry === undefined) return undefined;
    const { asked } = entry;
    if (outside !== undefined && isMeantAsAnswer(asked, text)) return outsideReason(outside);
    if (!mayAnswer(entry, responder)) return isMeantAsAnswer(asked, text) ? foreignReason(entry) : undefined;
    if (isMeantAsAnswer(asked, text) && !mayAllow(entry, { text }, responder)) return ownersReason;
    const isControl = parseCommand(text) !== undefined || isStopPhrase(text) || optionOf(asked, text) !== undefined;
    return asked.kind === "env_var" && !responder.isPrivate && !isControl ? privateReason(asked) : undefined;
  }

  #refusalOf(requestId: string, entry: Entry | undefined, reply: Reply, responder: Responder): Refusal | undefined {
    if (entry === undefined || entry.state !== "open") {
      const endedAs = this.#closed.get(requestId);
      if (entry === undefined && endedAs === undefined)
        return { code: "not_found", reason: "There is no such question, or it is closed." };
      return {
        code: "closed",
        reason: `This question is closed${endedAs ? `: ${endedAs}` : ", it was answered just now"}.`,
      };
    }
    if (!mayAnswer(entry, responder)) return { code: "forbidden", reason: foreignReason(entry) };
    if (!mayAllow(entry, reply, responder)) return { code: "forbidden", reason: ownersReason };
    if (entry.asked.kind !== "env_var" || optionOf(entry.asked, reply.text) !== undefined) return undefined;
    if (!responder.isPrivate) return { code: "wrong_place", reason: privateReason(entry.asked) };
    const missing = (entry.asked.fields ?? []).filter((name) => !reply.values?.includes(name));
    return missing.length === 0
      ? undefined
      : { code: "bad_answer", reason: `A value is missing for ${missing.join(", ")}.` };
  }

  #add(id: string, entry: Entry): void {
    this.#entries.set(id, entry);
    for (const watcher of [...this.#watchers]) watcher(id);
  }

  #close(id: string, entry: Entry, endedAs: string): void {
    if (this.#entries.get(id) !== entry) return;
    entry.state = "closed";
    this.#entries.delete(id);
    this.#closed.set(id, endedAs);
  }
}

/** What the turn that asks holds. */
export interface QuestionHandle {
  /** To be called once; `endedAs` ends the sentence "This question is closed: …". */
  close(endedAs: string): void;
  /** False while an answer is being stored, or once there is one: then a time-out comes too late. */
  reserve(): boolean;
  /** Resolves once no answer is being stored. */
  whenFree(): Promise<void>;
}

export function isRefusal(outcome: Reservation | Refusal): outcome is Refusal {
  return "reason" in outcome;
}

export function responderIdOf({ channel, senderId }: Pick<Responder, "channel" | "senderId">): string {
  return `${channel}:${senderId}`;
}

function isAskedIn(question: Entry, sessionKey: string): boolean {
  const isOwn = question.sessionKey === sessionKey || question.chatKey === sessionKey;
  return isOwn || isBelow(question.sessionKey, sessionKey) || isPassedOnTo(question, sessionKey);
}

/** In whichever thread of that chat. */
function isPassedOnTo({ alsoIn }: Entry, sessionKey: string): boolean {
  return alsoIn !== undefined && (sessionKey === alsoIn || sessionKey.startsWith(`${alsoIn}:`));
}

/** Only the asker or an owner, whatever the route. */
function mayAnswer({ asker }: OpenQuestion, { channel, senderId, isOwner }: Responder): boolean {
  return isOwner || (asker.channel === channel && asker.senderId === senderId);
}

/** False where an owner has to say yes and somebody else says anything but no. */
function mayAllow(question: OpenQuestion, reply: Reply, { isOwner }: Responder): boolean {
  if (isOwner || !isForOwner(question.asked)) return true;
  const choice = choiceFor(question, reply);
  return choice !== undefined && !isYes(choice);
}

function choiceFor({ asked }: OpenQuestion, reply: Reply): Choice | undefined {
  const option = asked.kind === "env_var" ? optionOf(asked, reply.text) : undefined;
  if (option !== undefined) return { optionId: option.id, text: option.label };
  // Secrets are told by their names only.
  if (asked.kind === "env_var") return { text: `${(asked.fields ?? []).join(", ")} saved` };
  const command = parseCommand(reply.text);
  if (command?.name !== "approve" && command?.name !== "deny") return choiceOf(asked, reply.text);
  if (asked.kind !== "permission") return undefined;
  if (command.name === "deny") return choiceOf(asked, "deny");
  return choiceOf(asked, command.argument.toLowerCase() === "always" ? "allow_always" : "allow_once");
}

/** A command that answers nothing, so it is never taken for one's own words. */
export function isOtherCommand(asked: OpenQuestion["asked"], text: string): boolean {
  return parseCommand(text) !== undefined && !isMeantAsAnswer(asked, text);
}

function isMeantAsAnswer(asked: OpenQuestion["asked"], text: string): boolean {
  const command = parseCommand(text)?.name;
  return command === "approve" || command === "deny" || optionOf(asked, text) !== undefined;
}

/** Own words, or what may be a secret and is turned away. */
function isTakenAsAnswer(asked: OpenQuestion["asked"], text: string): boolean {
  const isControl = parseCommand(text) !== undefined || isStopPhrase(text);
  return (asked.allow_custom || asked.kind === "env_var") && !isControl;
}

function foreignReason({ asker }: OpenQuestion): string {
  return `Only ${asker.name === undefined ? "the person who asked" : visible(asker.name)} or an owner of this assistant can answer this.`;
}

function outsideReason(outside: string): string {
  return `This counts as ${outside}, so it cannot answer a question. Please write the answer yourself, or give it on the web page.`;
}

/** Where a secret may be typed. */
export function privateReason({ fields = [] }: OpenQuestion["asked"]): string {
  return `Secrets do not belong in a chat: give ${fields.join(", ")} on the web page of this gateway, or with \`maxclaw answer\` in its terminal.`;
}

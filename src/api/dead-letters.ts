import type { DeadLetter, Engine } from "../engine/engine.js";
import { RequestError } from "../errors.js";
import { draft, type EventDraft } from "../events/event.js";
import { cutText } from "../util/text/cut-text.js";

/** A message or a reply that was given up, as a line of a list. */
export interface DeadLetterSummary {
  readonly id: string;
  /** A message that was to be answered, or a reply that was to be sent. */
  readonly kind: "message" | "reply";
  readonly sessionKey: string;
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string;
  /** Why it was given up, as a sentence. */
  readonly reason: string;
  /** ISO 8601. */
  readonly acceptedAt: string;
  readonly buriedAt: string;
  readonly attempts: number;
  /** How its text begins. */
  readonly begin: string;
}

/** A dead letter as a whole. */
export interface DeadLetterView extends Omit<DeadLetterSummary, "begin"> {
  readonly content: string;
  /** Names of the files that belong to it. */
  readonly files: readonly string[];
}

/** Messages and replies that were given up. */
export interface DeadLettersApi {
  /** Oldest first. */
  list(): Promise<readonly DeadLetterSummary[]>;
  /** @throws {RequestError} 404 */
  show(id: string): Promise<DeadLetterView>;
  /** Tries it again, behind what waits in its chat. Resolves once that is durable. @throws {RequestError} 404 */
  redrive(id: string): Promise<void>;
  /** Forgets it. Its conversation goes on saying how it ended. @throws {RequestError} 404 */
  drop(id: string): Promise<void>;
}

const beginLength = 80;

export function createDeadLetters(
  { dead }: Pick<Engine, "dead">,
  logEvent: (event: EventDraft) => Promise<void>,
): DeadLettersApi {
  const logEnd = (id: string, end: "sent again" | "dropped"): Promise<void> =>
    logEvent(
      draft("settings_changed", { scope: "gateway", key: "dead_letter", from: id, to: end }, { source: "client" }),
    );
  return {
    list: async () => (await dead.list()).map(toSummary),
    async show(id) {
      const letter = (await dead.list()).find(({ work }) => work.id === id);
      if (letter === undefined) throw notFound(id);
      const { content, attachments } = letter.work.body;
      return { ...commonOf(letter), content, files: attachments.map(({ filename }) => filename) };
    },
    async redrive(id) {
      if (!(await dead.redrive(id))) throw notFound(id);
      await logEnd(id, "sent again");
    },
    async drop(id) {
      if (!(await dead.drop(id))) throw notFound(id);
      await logEnd(id, "dropped");
    },
  };
}

function toSummary(letter: DeadLetter): DeadLetterSummary {
  return { ...commonOf(letter), begin: cutText(letter.work.body.content, beginLength) };
}

function commonOf({ work, reason, buriedAt }: DeadLetter): Omit<DeadLetterSummary, "begin"> {
  const { channel, chatId, thread } = work.body;
  return {
    id: work.id,
    kind: work.queue === "inbound" ? "message" : "reply",
    sessionKey: work.sessionKey,
    channel,
    chatId,
    ...(thread === undefined ? {} : { thread }),
    reason,
    acceptedAt: new Date(work.acceptedAt).toISOString(),
    buriedAt: new Date(buriedAt).toISOString(),
    attempts: work.attempts,
  };
}

function notFound(id: string): RequestError {
  return new RequestError(`There is no dead letter ${cutText(id, 100)}. "maxclaw dead list" shows them.`, {
    status: 404,
    code: "not_found",
  });
}

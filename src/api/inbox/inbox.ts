import type { OpenQuestion, OpenQuestions } from "../../agent/questions/open-questions.js";
import type { Records } from "../../engine/engine.js";
import { RequestError } from "../../errors.js";
import { draft, type EventDraft } from "../../events/event.js";
import { channelOf } from "../../events/session-key.js";
import type { Pairing, PairingRequest } from "../../policy/pairing.js";
import type { JobState, Scheduler } from "../../schedule/scheduler.js";
import type { SessionStore } from "../../sessions/session-store.js";
import { cutText } from "../../util/text/cut-text.js";
import type { DeadLetterSummary, DeadLettersApi } from "../dead-letters.js";
import { toWaitingQuestion } from "../policy/waiting-question.js";
import type {
  DeadItem,
  FailedJobItem,
  InboxApi,
  InboxItem,
  InboxView,
  QuestionItem,
  StrangerItem,
} from "./inbox-api.js";

export interface InboxPorts {
  readonly questions: Pick<OpenQuestions, "list">;
  readonly pairing: Pick<Pairing, "list">;
  readonly scheduler: () => Promise<Pick<Scheduler, "all">>;
  readonly dead: Pick<DeadLettersApi, "list">;
  readonly sessions: Pick<SessionStore, "page">;
  /** Of each job the run that somebody has looked at. */
  readonly looked: Records;
  readonly logEvent: (event: EventDraft) => Promise<void>;
}

const maxItems = 200;

/** Gathers what waits for a person from the parts that know it. Only what was looked at is kept here. */
export class Inbox implements InboxApi {
  readonly #ports: InboxPorts;

  constructor(ports: InboxPorts) {
    this.#ports = ports;
  }

  async list(): Promise<InboxView> {
    const { pairing, dead } = this.#ports;
    const [questions, failed, letters] = await Promise.all([this.#questions(), this.#failedJobs(), dead.list()]);
    const items: InboxItem[] = [
      ...questions,
      ...pairing.list().waiting.map(toStranger),
      ...failed,
      ...letters.map(toDead),
    ];
    items.sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
    return { count: items.length, items: items.slice(0, maxItems) };
  }

  async dismiss(id: string): Promise<void> {
    const { looked, scheduler, logEvent } = this.#ports;
    const run = (await this.#failedJobs()).find((item) => item.id === id);
    if (run === undefined) throw whyNotDismissed(id);
    await looked.put(run.jobId, id);
    const jobs = new Set((await scheduler()).all().map((job) => job.id));
    for (const { id: jobId } of looked.list()) if (!jobs.has(jobId)) await looked.delete(jobId);
    await logEvent(draft("settings_changed", { scope: "gateway", key: "inbox", to: id }, { source: "client" }));
  }

  async #questions(): Promise<readonly QuestionItem[]> {
    const open = this.#ports.questions.list();
    if (open.length === 0) return [];
    const chats = new Set(open.map(({ chatKey }) => chatKey));
    const { sessions } = await this.#ports.sessions.page({ isWanted: (key) => chats.has(key) });
    const titles = new Map(sessions.map(({ key, title, summary }) => [key, title ?? summary]));
    return open.map((question) => toQuestion(question, titles.get(question.chatKey) ?? question.chatKey));
  }

  async #failedJobs(): Promise<readonly FailedJobItem[]> {
    const jobs = (await this.#ports.scheduler()).all();
    return jobs.flatMap(toFailedJob).filter(({ id, jobId }) => this.#ports.looked.get(jobId) !== id);
  }
}

function toQuestion(open: OpenQuestion, title: string): QuestionItem {
  const { chatKey, asked } = open;
  const { kind: asks, question: text, ...waiting } = toWaitingQuestion(open);
  const kind = asks === "permission" ? "approval" : "question";
  return {
    ...waiting,
    id: `${kind}:${asked.request_id}`,
    kind,
    asks,
    title,
    text,
    at: iso(Date.parse(asked.expires_at) - asked.timeout_seconds * 1000),
    channel: channelOf(chatKey),
    chatKey,
    options: asked.options.map(({ id, label, description, recommended }) => ({
      id,
      label,
      ...(description === undefined ? {} : { description }),
      ...(recommended === undefined ? {} : { recommended }),
    })),
  };
}

function toStranger({ code, channel, senderId, senderName, createdAt, expiresAt }: PairingRequest): StrangerItem {
  return {
    id: `stranger:${code}`,
    kind: "stranger",
    title: senderName ?? senderId,
    text: `${channel}:${senderId}`,
    at: createdAt,
    channel,
    code,
    senderId,
    ...(senderName === undefined ? {} : { senderName }),
    expiresAt,
  };
}

function toFailedJob({ id: jobId, name, owner, lastRun }: JobState): readonly FailedJobItem[] {
  if (lastRun?.status !== "failed") return [];
  const { messageId, startedAt, endedAt = startedAt, result = "" } = lastRun;
  const { sessionKey, channel } = owner;
  const id = `failed_job:${messageId}`;
  return [{ id, kind: "failed_job", title: name, text: result, at: endedAt, channel, jobId, sessionKey }];
}

function toDead({ id, kind, sessionKey, channel, chatId, reason, buriedAt, begin }: DeadLetterSummary): DeadItem {
  const common = { id: `dead:${id}`, title: sessionKey, text: begin, at: buriedAt, channel };
  return { ...common, kind: "dead", letterId: id, letter: kind, sessionKey, chatId, reason };
}

function whyNotDismissed(id: string): RequestError {
  const shown = cutText(id, 100);
  if (!id.startsWith("failed_job:"))
    return new RequestError(
      `${shown} cannot be dismissed. Only a failed run can. Everything else goes when it is done.`,
      {
        status: 400,
        code: "bad_request",
      },
    );
  return new RequestError(`${shown} is not in the inbox any more.`, { status: 404, code: "not_found" });
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

import type { InboundMessage } from "../../bus/messages.js";
import { messageOf } from "../../errors.js";
import type { SessionLives } from "../../events/session-lives.js";
import type { Logger } from "../../log.js";
import type { Run } from "../job.js";
import type { EndOfRun } from "../job-runs.js";
import type { RunHistory } from "../run-history.js";
import type { RunReports } from "../run-reports.js";
import type { HeartbeatChat } from "./chat.js";
import type { HeartbeatConversations } from "./conversations.js";
import { heartbeatPrompt, nothingToSay } from "./heartbeat.js";
import { heartbeatJob, heartbeatPrefix } from "./job.js";

/** So many beats that fail one after the other are told once. */
const maxFailures = 5;

export interface HeartbeatRunPorts {
  readonly chat: HeartbeatChat;
  readonly conversations: HeartbeatConversations;
  readonly history: RunHistory;
  readonly reports: RunReports;
  readonly messages: { publishInbound(message: InboundMessage): Promise<unknown> };
  readonly lives: Pick<SessionLives, "runOrAgain">;
  /** Unix ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** The beats: each is a message of the gateway to itself, whose end is kept. */
export class HeartbeatRuns implements AsyncDisposable {
  readonly #ports: HeartbeatRunPorts;
  readonly #stopping = new AbortController();
  readonly #followed = new Set<Promise<unknown>>();

  /** Goes on with what an earlier process began, and did not see or did not keep the end of. */
  constructor(ports: HeartbeatRunPorts) {
    this.#ports = ports;
    for (const run of ports.history.of(heartbeatJob)) if (run.status === "running") this.#follow(run);
  }

  /** Begins the beat of this moment (Unix ms), durable once it resolves; the same moment again changes nothing. */
  async begin(due: number): Promise<void> {
    const { chat, conversations, history, messages, lives, now } = this.#ports;
    const { channel, chatId, thread, senderId } = await chat.find();
    const dueAt = new Date(due).toISOString();
    const startedAt = new Date(now()).toISOString();
    const messageId = `${heartbeatPrefix}${dueAt}`;
    const beat: InboundMessage = {
      id: messageId,
      channel,
      chatId,
      ...(thread === undefined ? {} : { thread }),
      senderId,
      sessionKey: conversations.keyAt(due),
      content: heartbeatPrompt,
      attachments: [],
      mode: "next",
      internal: true,
      jobId: heartbeatJob,
      silence: { failures: true, word: nothingToSay },
      receivedAt: now(),
    };
    await lives.runOrAgain(beat.sessionKey, () => messages.publishInbound(beat));
    const run: Run = { messageId, dueAt, startedAt, status: "running" };
    if (await history.begin(heartbeatJob, run)) {
      this.#report(dueAt, "started");
      this.#follow(run);
    }
    await conversations.tidy(due);
  }

  /** The newest one. */
  get last(): Run | undefined {
    return this.#ports.history.of(heartbeatJob)[0];
  }

  /** What runs goes on without being followed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await Promise.all(this.#followed);
  }

  /** Keeps how a beat ends, once it does. */
  #follow({ messageId, dueAt }: Run): void {
    const { reports, conversations, log } = this.#ports;
    const following = reports
      .endOf(conversations.keyAt(Date.parse(dueAt)), messageId, this.#stopping.signal)
      .then((end) => end && this.#ended(messageId, end))
      .catch((error: unknown) => log.warn(`The end of a heartbeat was not kept: ${messageOf(error)}`))
      .finally(() => this.#followed.delete(following));
    this.#followed.add(following);
  }

  async #ended(messageId: string, { status, result, outside }: EndOfRun): Promise<void> {
    const { history, now } = this.#ports;
    const endedAt = new Date(now()).toISOString();
    const run = await history.end(heartbeatJob, messageId, { status, result, outside, endedAt });
    if (run === undefined) return;
    this.#report(run.dueAt, status, status === "failed" ? result : undefined);
    await this.#alertAfterFailures(result);
  }

  async #alertAfterFailures(result: string): Promise<void> {
    const { chat, conversations, history, reports, now, log } = this.#ports;
    const runs = history.of(heartbeatJob);
    const since = runs.findIndex(({ status }) => status !== "failed");
    if ((since === -1 ? runs.length : since) !== maxFailures) return;
    log.warn(`The heartbeat failed ${maxFailures} times in a row: ${result}`);
    const text = `The heartbeat failed ${maxFailures} times in a row. It goes on trying; maxclaw status may say why.`;
    await reports.alert(await chat.find(), conversations.keyAt(now()), text);
  }

  #report(dueAt: string, status: "started" | "completed" | "failed", error?: string): void {
    const change = { jobId: heartbeatJob, dueAt, status, ...(error === undefined ? {} : { error }) };
    this.#ports.reports.report(this.#ports.conversations.keyAt(Date.parse(dueAt)), change);
  }
}

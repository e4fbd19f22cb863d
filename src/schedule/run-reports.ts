import type { OutboundMessage } from "../bus/messages.js";
import type { Engine } from "../engine/engine.js";
import { messageOf } from "../errors.js";
import { draft } from "../events/event.js";
import { clientChannels } from "../events/session-key.js";
import type { Logger } from "../log.js";
import { newId } from "../util/ids.js";
import type { JobOwner } from "./job.js";
import type { EndOfRun, RunChange } from "./job-runs.js";

/** What is known about conversations and their turns. */
export interface RunPorts {
  readonly engine: Pick<Engine, "append">;
  readonly sessions: {
    exists(key: string): Promise<boolean>;
    peek(key: string): Promise<readonly Said[] | undefined>;
  };
  readonly messages: { publishOutbound(message: OutboundMessage): Promise<unknown> };
  /** Resolves with how the turn of this message ended, also when that was long ago. */
  waitForTurn(
    sessionKey: string,
    messageId: string,
    signal: AbortSignal,
  ): Promise<{ readonly end: "complete" | "failed" | "cancelled"; readonly response: string }>;
  readonly log: Logger;
}

interface Said {
  readonly role: string;
  readonly outside?: string | undefined;
}

/** How the runs of jobs and heartbeats end, and who is told about them. */
export class RunReports {
  readonly #ports: RunPorts;

  constructor(ports: RunPorts) {
    this.#ports = ports;
  }

  /** Resolves with the end, also when an earlier process has seen it; with undefined when `signal` aborts. Never rejects. */
  async endOf(sessionKey: string, messageId: string, signal: AbortSignal): Promise<EndOfRun | undefined> {
    const { sessions, waitForTurn } = this.#ports;
    try {
      const { end, response } = await waitForTurn(sessionKey, messageId, signal);
      if (end === "cancelled") return { status: "failed", result: "It was stopped." };
      const answer = (await sessions.peek(sessionKey))?.findLast(({ role }) => role === "assistant");
      return { status: end === "complete" ? "completed" : "failed", result: response, outside: answer?.outside };
    } catch (error) {
      return signal.aborted ? undefined : { status: "failed", result: messageOf(error) };
    }
  }

  /** Reports a run in its conversation, when that can be done. Nothing begins a deleted one again. */
  report(sessionKey: string, change: Omit<RunChange, "job"> & { readonly jobId: string }): void {
    this.#append(sessionKey, change).catch((cause: unknown) =>
      this.#ports.log.warn(`A run of ${change.jobId} was not reported: ${messageOf(cause)}`),
    );
  }

  /** Says something in the chat of whose runs they are, which is not an answer. People who read events see it there. */
  async alert({ channel, chatId, thread }: JobOwner, sessionKey: string, content: string): Promise<void> {
    if (clientChannels.has(channel)) return;
    await this.#ports.messages.publishOutbound({
      id: `${newId("alert")}#1`,
      channel,
      chatId,
      ...(thread === undefined ? {} : { thread }),
      sessionKey,
      content,
      attachments: [],
    });
  }

  async #append(
    sessionKey: string,
    { jobId, dueAt, status, error }: Omit<RunChange, "job"> & { readonly jobId: string },
  ): Promise<void> {
    if (!(await this.#ports.sessions.exists(sessionKey))) return;
    const more = error === undefined ? {} : { error };
    const payload = { job_id: jobId, due_at: dueAt, status, session_key: sessionKey, ...more };
    const event = draft("schedule_run_changed", payload, { source: "gateway" });
    await this.#ports.engine.append(sessionKey, [event], { durable: false });
  }
}

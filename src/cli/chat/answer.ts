import { z } from "zod";
import { sleep } from "../../util/async/sleep.js";
import { newId } from "../../util/ids.js";
import { CommandError } from "../exit.js";
import { type ApiClient, ConnectionLost } from "../gateway/api-client.js";

const humanInput = z.object({
  requestId: z.string(),
  kind: z.string(),
  options: z.array(z.object({ id: z.string(), label: z.string(), description: z.string().optional() })).default([]),
  fields: z.array(z.string()).default([]),
  allowCustom: z.boolean().default(false),
  input: z.string().optional(),
});

/** A question of the assistant to the person who sits here. */
export interface HumanQuestion extends z.output<typeof humanInput> {
  readonly question: string;
}

/** What is shown while an answer comes in. */
export interface AnswerListener {
  onText(delta: string): void;
  /** One line about a tool or skill. */
  onActivity(line: string): void;
  /** Something worth a line while waiting, e.g. that the gateway is away. */
  onNotice(line: string): void;
  /** The turn waits for a person. `closed` aborts once it does not any more; a promise that is returned must not reject. */
  onQuestion(question: HumanQuestion, closed: AbortSignal): void;
}

export interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

export interface Question {
  readonly sessionKey: string;
  readonly content: string;
  /** Its own id. Default: a new one. */
  readonly messageId?: string;
}

const frame = z.object({
  type: z.string(),
  delta: z.string().default(""),
  toolId: z.string().default(""),
  summary: z.string().default(""),
  response: z.string().default(""),
  error: z.string().default(""),
  message: z.string().default(""),
  humanInput: humanInput.optional(),
  humanInputClosed: z.string().optional(),
  done: z.boolean().default(false),
});

const awayNotices = {
  unknown:
    "The gateway went away while your message was on its way to it. It is sent again once the gateway is back, and answered once. Waiting up to a minute …",
  accepted: "The gateway went away; your message is stored. Waiting up to a minute for it to come back …",
};

/** A gateway that restarts is waited for, this long. */
const awayMs = 60_000;

/**
 * Sends a message and follows its answer to the end. When the connection is lost, it is sent again under the same id,
 * which the gateway answers once; `reconnect` gives the gateway as it can be reached then.
 *
 * @throws {CommandError} when the gateway refuses the message, or stays away
 */
export async function ask(
  question: Question,
  listener: AnswerListener,
  { client, reconnect }: { readonly client: ApiClient; readonly reconnect: () => Promise<ApiClient | undefined> },
  signal: AbortSignal,
): Promise<Answer> {
  const body = { messageId: newId("msg"), ...question, channel: "cli", stream: true };
  const progress = createProgress(listener);
  using questions = createQuestions(listener);
  let current: ApiClient | undefined = client;
  let lostAt: number | undefined;
  let state: "unsent" | "unknown" | "accepted" = "unsent";
  for (;;) {
    try {
      if (current === undefined) throw new ConnectionLost("No gateway is running");
      progress.begin();
      for await (const { data } of current.stream("/api/message", body, signal)) {
        const parsed = parseFrame(data);
        if (parsed === undefined) continue;
        state = "accepted";
        lostAt = undefined;
        if (parsed.type === "final") return { text: parsed.response, isError: false };
        if (parsed.type === "error" && parsed.done) return { text: parsed.error, isError: true };
        questions.follow(parsed);
        progress.show(parsed);
      }
      throw new ConnectionLost("The answer broke off");
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ConnectionLost)) throw error;
      if (state === "unsent" && error.wasReached) state = "unknown";
      if (lostAt === undefined && state !== "unsent") listener.onNotice(awayNotices[state]);
      lostAt ??= Date.now();
      if (state === "unsent" || Date.now() - lostAt > awayMs)
        throw new CommandError(lostSentence(error, state, question));
      await sleep(500, signal);
      current = await reconnect();
    }
  }
}

type Frame = z.output<typeof frame>;

function parseFrame(data: string): Frame | undefined {
  if (data === "[DONE]") return undefined;
  try {
    return frame.parse(JSON.parse(data));
  } catch {
    return undefined;
  }
}

/** Shows each piece once, although a repeated request tells the turn from its beginning. */
function createProgress(listener: AnswerListener) {
  const seenCalls = new Set<string>();
  let shown = 0;
  let position = 0;
  return {
    begin(): void {
      position = 0;
    },
    show({ type, delta, toolId, summary }: Frame): void {
      if (type === "content_delta") {
        const news = delta.slice(Math.max(0, shown - position));
        position += delta.length;
        if (news !== "") listener.onText(news);
        shown = Math.max(shown, position);
      } else if (type === "tool_result" || type === "skill_result") {
        const call = `${type}:${toolId}:${summary}`;
        if (seenCalls.has(call)) return;
        seenCalls.add(call);
        listener.onActivity(summary);
      }
    },
  };
}

/** Tells each open question once, although a repeated request tells the turn from its beginning. */
function createQuestions(listener: AnswerListener) {
  const open = new Map<string, AbortController>();
  const closed = new Set<string>();
  return {
    follow({ humanInput: asked, humanInputClosed: closedId, message }: Frame): void {
      if (asked !== undefined && !open.has(asked.requestId) && !closed.has(asked.requestId)) {
        const closing = new AbortController();
        open.set(asked.requestId, closing);
        // What is repeated from the past may be answered by its next line.
        setImmediate(
          () => closing.signal.aborted || listener.onQuestion({ ...asked, question: message }, closing.signal),
        );
      }
      if (closedId === undefined) return;
      closed.add(closedId);
      open.get(closedId)?.abort();
      open.delete(closedId);
    },
    [Symbol.dispose](): void {
      for (const closing of open.values()) closing.abort();
    },
  };
}

function lostSentence(error: Error, state: "unsent" | keyof typeof awayNotices, { sessionKey }: Question): string {
  const look = `see maxclaw sessions show ${sessionKey}`;
  if (state === "accepted") return `The gateway stayed away. The message is stored and will be answered: ${look}`;
  return state === "unsent"
    ? `${error.message}. The message was not sent`
    : `${error.message}. Nobody knows whether the message arrived: once the gateway runs, ${look}`;
}

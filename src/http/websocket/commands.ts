import { z } from "zod";
import type { GatewayApi } from "../../api/gateway-api.js";
import { RequestError } from "../../errors.js";
import { checked } from "../json.js";
import { attachmentBody } from "../routes/message.js";
import { answerFields } from "../routes/policy.js";
import { toStatusWire } from "../status-wire.js";
import type { ClientFrame } from "./frames.js";

/** What a command may do beside calling the gateway. */
export interface CommandContext {
  readonly api: GatewayApi;
  /**
   * Replaces an earlier subscription to the same target. Resolves with the session's last seq; events are told only
   * after the command's response, so that a client can tell them from those that other subscriptions brought.
   */
  subscribe(
    target: string,
    options: { readonly fromSequence: number | undefined; readonly types: readonly string[] | undefined },
  ): Promise<number | undefined>;
  /** False when there was none. */
  unsubscribe(target: string): boolean;
}

type Command = (payload: unknown, context: CommandContext) => unknown;

function command<T>(schema: z.ZodType<T>, run: (payload: T, context: CommandContext) => unknown): Command {
  return (payload, context) => run(checked(payload, schema), context);
}

const key = z.string().min(1).max(300);
const sequence = z.number().int().nonnegative();
const session = z.object({ session_key: key });

const commands: ReadonlyMap<string, Command> = new Map([
  [
    "message_send",
    command(
      z.object({
        session_key: key,
        content: z.string(),
        channel: z.string().max(100).optional(),
        chat_id: z.string().max(300).optional(),
        selected_skills: z.array(z.string().max(200)).max(100).optional(),
        attachments: z.array(attachmentBody).max(20).optional(),
        message_id: z.string().min(1).max(200).optional(),
        mode: z.enum(["next", "append", "cancel"]).optional(),
      }),
      async (payload, { api }) => {
        const sent = await api.send({
          sessionKey: payload.session_key,
          content: payload.content,
          channel: payload.channel,
          chatId: payload.chat_id,
          selectedSkills: payload.selected_skills,
          attachments: payload.attachments,
          messageId: payload.message_id,
          mode: payload.mode,
        });
        return { message_id: sent.messageId, status: sent.status, session_key: payload.session_key };
      },
    ),
  ],
  ["turn_cancel", command(session, ({ session_key }, { api }) => api.stopTurn(session_key))],
  [
    "session_open",
    command(
      z.object({
        session_key: key.optional(),
        title: z.string().max(200).optional(),
        model: z.string().max(200).optional(),
        cwd: z.string().max(4096).optional(),
      }),
      async ({ session_key, ...rest }, { api }) => {
        const opened = await api.createSession({ key: session_key, ...rest });
        return { session_key: opened.key, reused: opened.reused };
      },
    ),
  ],
  [
    "session_list",
    command(
      z.object({
        channel: z.string().optional(),
        chat_id: z.string().optional(),
        limit: z.number().int().min(1).max(1000).default(200),
        offset: sequence.default(0),
      }),
      ({ chat_id, ...rest }, { api }) => api.listSessions({ chatId: chat_id, ...rest }),
    ),
  ],
  [
    "session_delete",
    command(session, async ({ session_key }, { api }) => {
      await api.deleteSession(session_key);
      return { session_key };
    }),
  ],
  [
    "session_title_set",
    command(session.extend({ title: z.string().trim().min(1).max(200) }), async ({ session_key, title }, { api }) => {
      await api.renameSession(session_key, title);
      return { session_key, title };
    }),
  ],
  [
    "session_status",
    command(
      session.extend({ include_recovery: z.boolean().default(false), from_sequence: sequence.default(0) }),
      async ({ session_key, include_recovery, from_sequence }, { api }) =>
        toStatusWire(
          await api.sessionStatus(session_key, { includeRecovery: include_recovery, fromSequence: from_sequence }),
        ),
    ),
  ],
  [
    "events_subscribe",
    command(
      session.extend({ from_sequence: sequence.optional(), types: z.array(z.string().max(100)).max(100).optional() }),
      async ({ session_key, from_sequence, types }, context) => ({
        session_key,
        last_sequence: await context.subscribe(session_key, { fromSequence: from_sequence, types }),
      }),
    ),
  ],
  [
    "events_unsubscribe",
    command(session, ({ session_key }, context) => ({ session_key, was_subscribed: context.unsubscribe(session_key) })),
  ],
  ["ping", () => ({})],
  [
    "session_abort",
    command(session, async ({ session_key }, { api }) => {
      await api.abortSession(session_key);
      return { session_key, state: "aborted" };
    }),
  ],
  [
    "session_complete",
    command(session, async ({ session_key }, { api }) => {
      await api.completeSession(session_key);
      return { session_key, state: "completed" };
    }),
  ],
  [
    "session_fork",
    command(session.extend({ at: z.number().int().optional() }), async ({ session_key, at }, { api }) => {
      const fork = await api.forkSession(session_key, at);
      return { session_key: fork.key, forked_from: { session_key: fork.forkedFrom.key, seq: fork.forkedFrom.seq } };
    }),
  ],
  [
    "human_input_reply",
    command(
      session.extend({ request_id: z.string().min(1).max(100), ...answerFields }),
      async ({ session_key, request_id, answer, values }, { api }) => {
        const taken = await api.answerQuestion({ sessionKey: session_key, requestId: request_id, answer, values });
        return { request_id, answer: taken.answer };
      },
    ),
  ],
]);

/** @throws {RequestError} (or rejects) for an unknown command, a wrong payload, and whatever the gateway refuses */
export function runCommand(frame: ClientFrame, context: CommandContext): unknown {
  if (frame.type === "interrupt") return interrupt(frame, context.api);
  if (frame.type === "chat") return chat(frame, context.api);
  const run = commands.get(frame.command.type);
  if (run === undefined)
    throw new RequestError(`There is no command "${frame.command.type}".`, { status: 404, code: "unknown_command" });
  return run(frame.command.payload ?? {}, context);
}

async function chat({ session, content }: Extract<ClientFrame, { type: "chat" }>, api: GatewayApi) {
  const sent = await api.send({ sessionKey: session, content });
  return { message_id: sent.messageId, status: sent.status, session_key: session };
}

async function interrupt({ session, mode, content }: Extract<ClientFrame, { type: "interrupt" }>, api: GatewayApi) {
  if (content.trim() === "") {
    if (mode === "append") throw new RequestError("content: is needed", { status: 400, code: "bad_request" });
    return api.stopTurn(session);
  }
  const sent = await api.send({ sessionKey: session, content, mode });
  return { message_id: sent.messageId, status: sent.status, session_key: session };
}

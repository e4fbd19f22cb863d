import { isCommandName } from "../../api/commands/command-params.js";
import type { CommandResults } from "../../api/commands/commands-api.js";
import type { GatewayApi } from "../../api/gateway-api.js";
import { RequestError } from "../../errors.js";
import { ask, followed, fromSnake, toSnake } from "../ask.js";
import { toStatusWire } from "../status-wire.js";
import type { ClientFrame } from "./frames.js";

/** What a command may do besides calling the gateway. */
export interface CommandContext {
  readonly api: GatewayApi;
  /**
   * Replaces an earlier subscription to the same target. Resolves with the session's last seq; events are told only
   * after the command's response, so that a client can tell them from those that other subscriptions brought.
   */
  subscribe(
    target: string,
    options: { readonly fromSequence?: number | undefined; readonly types?: readonly string[] | undefined },
  ): Promise<number | undefined>;
  /** False when there was none. */
  unsubscribe(target: string): boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** What belongs to the connection. All other commands are the gateway's, and HTTP has them too. */
const ownCommands = new Map<string, (fields: Fields, context: CommandContext) => unknown>([
  [
    "events_subscribe",
    async (fields, { subscribe }) => {
      const { sessionKey, ...wanted } = followed(fields);
      return { session_key: sessionKey, last_sequence: await subscribe(sessionKey, wanted) };
    },
  ],
  [
    "events_unsubscribe",
    (fields, { unsubscribe }) => {
      const { sessionKey } = followed({ sessionKey: fields.sessionKey });
      return { session_key: sessionKey, was_subscribed: unsubscribe(sessionKey) };
    },
  ],
  ["ping", () => ({})],
]);

/** @throws {RequestError} (or rejects) for an unknown command, a wrong payload, and whatever the gateway refuses */
export function runCommand(frame: ClientFrame, context: CommandContext): unknown {
  if (frame.type === "interrupt") return interrupt(frame, context.api);
  if (frame.type === "chat") return send(context.api, { sessionKey: frame.session, content: frame.content });
  const { type, payload = {} } = frame.command;
  const fields = fromSnake(payload);
  const run = ownCommands.get(type);
  if (run !== undefined) return run(fields, context);
  if (!isCommandName(type))
    throw new RequestError(`There is no command "${type}".`, { status: 404, code: "unknown_command" });
  return answer(context.api, type, fields);
}

/** Answers are in snake_case, as the events beside them. */
async function answer(api: GatewayApi, command: keyof CommandResults, fields: Fields): Promise<unknown> {
  switch (command) {
    case "session_status":
      return toStatusWire(await ask(api, command, fields, toSnake));
    case "session_fork": {
      const { sessionKey, forkedFrom } = await ask(api, command, fields, toSnake);
      return { session_key: sessionKey, forked_from: { session_key: forkedFrom.key, seq: forkedFrom.seq } };
    }
    default:
      return inSnake(await ask(api, command, fields, toSnake));
  }
}

function inSnake(result: object): object {
  return Object.fromEntries(Object.entries(result).map(([name, value]) => [toSnake(name), value]));
}

async function send(api: GatewayApi, message: Fields): Promise<object> {
  return inSnake(await api.request("message_send", message));
}

function interrupt({ session, mode, content }: Extract<ClientFrame, { type: "interrupt" }>, api: GatewayApi): unknown {
  if (content.trim() !== "") return send(api, { sessionKey: session, content, mode });
  if (mode === "append") throw new RequestError("content: is needed", { status: 400, code: "bad_request" });
  return api.request("turn_cancel", { sessionKey: session });
}

import type { CommandAsker, CommandTaker } from "../../events/bus/commands.js";
import type { SessionMarks } from "../../sessions/marks/marks.js";
import type { GatewayApi } from "../gateway-api.js";
import { checked } from "./checked.js";
import { type CommandName, type CommandParams, commandParams } from "./command-params.js";
import type { CommandResults, CommandsApi } from "./commands-api.js";

/** What the handlers call: the operations as they are, without the way over the bus. */
export type Commanded = Pick<
  GatewayApi,
  | "send"
  | "stopTurn"
  | "retryTurn"
  | "createSession"
  | "listSessions"
  | "searchSessions"
  | "markSession"
  | "readSession"
  | "deleteSession"
  | "renameSession"
  | "sessionStatus"
  | "abortSession"
  | "completeSession"
  | "forkSession"
  | "answerQuestion"
>;

type Handlers = {
  readonly [T in CommandName]: (params: CommandParams<T>) => Promise<CommandResults[T]>;
};

/** The one place where each command is run. */
function handlersOver(operations: Commanded): Handlers {
  return {
    message_send: async (request) => ({ ...(await operations.send(request)), sessionKey: request.sessionKey }),
    turn_cancel: ({ sessionKey }) => operations.stopTurn(sessionKey),
    turn_retry: async (wanted) => ({ ...(await operations.retryTurn(wanted)), sessionKey: wanted.sessionKey }),
    async session_open({ sessionKey, ...rest }) {
      const { key, reused } = await operations.createSession({ key: sessionKey, ...rest });
      return { sessionKey: key, reused };
    },
    session_list: (query) => operations.listSessions(query),
    session_search: ({ query: text, ...rest }) => operations.searchSessions({ text, ...rest }),
    session_marks_set: async ({ sessionKey, ...marks }) => ({
      ...(await operations.markSession(sessionKey, marks)),
      sessionKey,
    }),
    session_read: async ({ sessionKey, seq }) => ({ ...(await operations.readSession(sessionKey, seq)), sessionKey }),
    async session_delete({ sessionKey }) {
      await operations.deleteSession(sessionKey);
      return { sessionKey };
    },
    async session_title_set({ sessionKey, title }) {
      await operations.renameSession(sessionKey, title);
      return { sessionKey, title };
    },
    session_status: ({ sessionKey, ...options }) => operations.sessionStatus(sessionKey, options),
    async session_abort({ sessionKey }) {
      await operations.abortSession(sessionKey);
      return { sessionKey, state: "aborted" };
    },
    async session_complete({ sessionKey }) {
      await operations.completeSession(sessionKey);
      return { sessionKey, state: "completed" };
    },
    async session_fork({ sessionKey, at }) {
      const { key, forkedFrom } = await operations.forkSession(sessionKey, at);
      return { sessionKey: key, forkedFrom };
    },
    async human_input_reply(reply) {
      const { answer } = await operations.answerQuestion(reply);
      return { requestId: reply.requestId, answer };
    },
  };
}

/** Has the operations answer the commands on the bus. What was sent is checked here, for every transport. */
export function handleCommands(bus: CommandTaker<CommandResults>, operations: Commanded): void {
  const handlers = handlersOver(operations);
  const handle = <T extends CommandName>(command: T) =>
    bus.handle(command, async (params) => await handlers[command](checkedParams(command, params)));
  // The keys are the names.
  for (const command of Object.keys(commandParams) as CommandName[]) handle(command);
}

function checkedParams<T extends CommandName>(command: T, params: unknown): CommandParams<T> {
  // The schema of a name gives the params of that name, which the compiler does not see for a name that it does not know.
  return checked<unknown>(params, commandParams[command]) as CommandParams<T>;
}

/** The same operations for programs: each is a request on the bus, as if a client had sent it. */
export function commandsOver({ request }: CommandAsker<CommandResults>): Commanded & CommandsApi {
  return {
    request,
    async send(message) {
      const { messageId, status } = await request("message_send", message);
      return { messageId, status };
    },
    stopTurn: (sessionKey) => request("turn_cancel", { sessionKey }),
    async retryTurn(wanted) {
      const { messageId, status } = await request("turn_retry", wanted);
      return { messageId, status };
    },
    async createSession({ key, ...options }) {
      const { sessionKey, reused } = await request("session_open", { sessionKey: key, ...options });
      return { key: sessionKey, reused };
    },
    listSessions: (query) => request("session_list", query),
    searchSessions: ({ text: query, ...rest }) => request("session_search", { query, ...rest }),
    markSession: (sessionKey, marks) => marksOf(request("session_marks_set", { sessionKey, ...marks })),
    readSession: (sessionKey, seq) => marksOf(request("session_read", { sessionKey, seq })),
    deleteSession: async (sessionKey) => void (await request("session_delete", { sessionKey })),
    renameSession: async (sessionKey, title) => void (await request("session_title_set", { sessionKey, title })),
    sessionStatus: (sessionKey, options) => request("session_status", { sessionKey, ...options }),
    abortSession: async (sessionKey) => void (await request("session_abort", { sessionKey })),
    completeSession: async (sessionKey) => void (await request("session_complete", { sessionKey })),
    async forkSession(sessionKey, at) {
      const { sessionKey: key, forkedFrom } = await request("session_fork", { sessionKey, at });
      return { key, forkedFrom };
    },
    answerQuestion: async ({ sessionKey, requestId, answer, values }) => ({
      answer: (await request("human_input_reply", { sessionKey, requestId, answer, values })).answer,
    }),
  };
}

async function marksOf(answer: Promise<CommandResults["session_marks_set"]>): Promise<SessionMarks> {
  const { sessionKey: _key, ...marks } = await answer;
  return marks;
}

import type { SessionMarks } from "../../sessions/marks/marks.js";
import type { SearchPage } from "../../sessions/search/search.js";
import type { SendOutcome } from "../messages/messages-api.js";
import type { ForkedFrom, SessionStatus, SessionsApi } from "../sessions/sessions-api.js";
import type { CommandName } from "./command-params.js";

/** What commands about how conversations are kept and found are answered with. */
interface KeptSessionResults {
  readonly session_list: Awaited<ReturnType<SessionsApi["listSessions"]>>;
  readonly session_search: SearchPage;
  readonly session_marks_set: SessionMarks & { readonly sessionKey: string };
  readonly session_read: SessionMarks & { readonly sessionKey: string };
}

/** What each command is answered with. */
export interface CommandResults extends KeptSessionResults {
  readonly message_send: SendOutcome & { readonly sessionKey: string };
  readonly turn_cancel: Awaited<ReturnType<SessionsApi["stopTurn"]>>;
  readonly turn_retry: SendOutcome & { readonly sessionKey: string };
  readonly session_open: { readonly sessionKey: string; readonly reused: boolean };
  readonly session_delete: { readonly sessionKey: string };
  readonly session_title_set: { readonly sessionKey: string; readonly title: string };
  readonly session_status: SessionStatus;
  readonly session_abort: { readonly sessionKey: string; readonly state: "aborted" };
  readonly session_complete: { readonly sessionKey: string; readonly state: "completed" };
  readonly session_fork: { readonly sessionKey: string; readonly forkedFrom: ForkedFrom };
  readonly human_input_reply: { readonly requestId: string; readonly answer: string };
}

/** The commands that clients send over more than one transport. */
export interface CommandsApi {
  /**
   * Runs a command by its name. `params` may be anything that came over a wire: the command's one handler checks them,
   * no matter who asks.
   *
   * @throws {RequestError} 400 naming the field, 503 once the gateway has stopped, and what the command itself throws
   */
  request<T extends CommandName>(command: T, params: unknown): Promise<CommandResults[T]>;
}

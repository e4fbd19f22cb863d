import { type Json, type Reply, refusal, success } from "./wire.js";

export interface TypingSign {
  readonly chatId: string;
  readonly thread?: string;
  readonly action: string;
  readonly at: number;
}

/** What people see of the bot besides its messages. */
export class Signs {
  readonly typing: TypingSign[] = [];
  /** What was told about presses, in order. */
  readonly toasts: { readonly callbackId: string; readonly text: string; readonly isAlert: boolean }[] = [];
  /** The menu. */
  readonly commands: object[] = [];
  readonly #notify: () => void;

  constructor(notify: () => void) {
    this.#notify = notify;
  }

  showAction(params: Json): Reply {
    const thread = params.message_thread_id;
    this.typing.push({
      chatId: String(params.chat_id),
      action: String(params.action),
      at: Date.now(),
      ...(thread === undefined ? {} : { thread: String(thread) }),
    });
    this.#notify();
    return success(true);
  }

  answerPress({ callback_query_id: callbackId, text = "", show_alert: isAlert }: Json): Reply {
    if (String(text).length > 200) return refusal(400, "Bad Request: MESSAGE_TOO_LONG");
    this.toasts.push({ callbackId: String(callbackId), text: String(text), isAlert: isAlert === true });
    this.#notify();
    return success(true);
  }

  setCommands({ commands }: Json): Reply {
    this.commands.splice(0, this.commands.length, ...(Array.isArray(commands) ? commands : []));
    return success(true);
  }
}

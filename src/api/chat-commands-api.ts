/** A command that people type in a chat. */
export interface ChatCommandInfo {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  /** What can follow the name, for people. */
  readonly argument?: string;
}

/** What can be typed in a chat. */
export interface ChatCommandsApi {
  listChatCommands(): readonly ChatCommandInfo[];
}

import type { EventDraft } from "../events/event.js";
import { draft } from "../events/event.js";

/** A chat command: a message that starts with a slash and a known word. */
export interface ChatCommand {
  readonly name: CommandName;
  readonly argument: string;
}

const commands = {
  help: "what you can type here",
  new: "start a fresh conversation; the old one stays in the session's log",
  stop: "end the answer that is being worked on",
  status: "how the gateway is doing",
} as const;
type CommandName = keyof typeof commands;

/** `/stop`, also as Telegram writes it in groups: `/stop@my_bot`. Anything else is ordinary text. */
export function parseCommand(text: string): ChatCommand | undefined {
  const match = /^\/([a-z]+)(?:@\w+)?(?:\s+([\s\S]*))?$/i.exec(text.trim());
  const name = match?.[1]?.toLowerCase();
  return name !== undefined && isCommand(name) ? { name, argument: match?.[2]?.trim() ?? "" } : undefined;
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

export interface CommandOutcome {
  readonly reply: string;
  readonly events: readonly EventDraft[];
}

/** Answers a command that was not taken by a running turn. */
export function runCommand(command: ChatCommand, statusLine: string): CommandOutcome {
  switch (command.name) {
    case "help":
      return {
        reply: Object.entries(commands)
          .map(([name, meaning]) => `/${name} – ${meaning}`)
          .join("\n"),
        events: [],
      };
    case "new":
      return {
        reply: "A fresh conversation. What was said before is out of my sight now.",
        events: [draft("session_history_changed", { kind: "new" }, { source: "agent" })],
      };
    case "stop":
      return { reply: "Nothing is running.", events: [] };
    case "status":
      return { reply: statusLine, events: [] };
  }
}

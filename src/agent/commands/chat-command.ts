import type { InboundMessage } from "../../bus/messages.js";

/** A chat command: a message that starts with a slash and a known word. */
export interface ChatCommand {
  readonly name: CommandName;
  readonly argument: string;
}

/** What can be typed, and what it does. */
export const commands = {
  help: "what you can type here",
  new: "start a fresh conversation; the old one stays in the session's log",
  undo: "take back your last message and its answer; again to go further back",
  stop: "end the answer that is being worked on",
  approve: "allow what I asked to do; /approve always remembers it",
  deny: "do not allow what I asked to do",
  status: "how the gateway is doing",
  model: "which model answers here, and how to change it",
  usage: "what was used, and what is left of the budgets",
  plan: "/plan GOAL plans a longer task before anything is done; alone it shows the plan",
  skills: "which skills there are, and how to switch them on and off",
  cron: "the scheduled jobs of this chat, and how to change them",
  pair: "who is waiting for access, and how to give it",
} as const;
type CommandName = keyof typeof commands;

/** `/stop`, also as Telegram writes it in groups: `/stop@my_bot`. Anything else is ordinary text. */
export function parseCommand(text: string): ChatCommand | undefined {
  const match = /^\/([a-z]+)(?:@\w+)?(?:\s+([\s\S]*))?$/i.exec(text.trim());
  const name = match?.[1]?.toLowerCase();
  return name !== undefined && isCommand(name) ? { name, argument: match?.[2]?.trim() ?? "" } : undefined;
}

/** Those that harm nobody, no matter who wrote them. */
const harmless: ReadonlySet<CommandName> = new Set(["help", "new", "stop", "status", "usage"]);

/** The command of a message. In text that others wrote only a harmless one counts: anyone who passes it on orders nothing. */
export function commandOf({ content, outside }: Pick<InboundMessage, "content" | "outside">): ChatCommand | undefined {
  const command = parseCommand(content);
  return command === undefined || outside === undefined || harmless.has(command.name) ? command : undefined;
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

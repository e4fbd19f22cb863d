import type { InboundMessage } from "../../bus/messages.js";
import { slashWordOf } from "../../util/text/slash-word.js";

/** A chat command: a message that starts with a slash and a known word. */
export interface ChatCommand {
  readonly name: CommandName;
  readonly argument: string;
}

/** A message that looks like a command and is none: a slip of the finger, or a command of another bot. */
export interface UnknownCommand {
  readonly name: "unknown";
  /** What follows the slash. */
  readonly argument: string;
}

/** What can be typed, and what it does. */
export const commands = {
  help: "what you can type here",
  new: "start a fresh conversation; the old one stays in the session's log",
  undo: "take back your last message and its answer; again to go further back",
  retry: "try the last answer again when it failed",
  compact: "summarise what was said so far, so that answers need less of it",
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

/** What can follow the name, for people. */
const argumentsOf: Readonly<Partial<Record<CommandName, string>>> = {
  model: "NAME",
  plan: "GOAL",
  skills: "on|off NAME",
  cron: "remove|enable|disable|run|history N",
  pair: "CODE",
};

/** For a page that offers them. */
export function describeCommands(): readonly {
  readonly name: string;
  readonly description: string;
  readonly argument?: string;
}[] {
  return Object.entries(commands).map(([name, description]) => {
    const argument = isCommand(name) ? argumentsOf[name] : undefined;
    return { name, description, ...(argument === undefined ? {} : { argument }) };
  });
}

/** `/stop`, also as Telegram writes it in groups: `/stop@my_bot`. Anything else is ordinary text. */
export function parseCommand(text: string): ChatCommand | undefined {
  const match = /^\/([a-z]+)(?:@\w+)?(?:\s+([\s\S]*))?$/i.exec(text.trim());
  const name = match?.[1]?.toLowerCase();
  return name !== undefined && isCommand(name) ? { name, argument: match?.[2]?.trim() ?? "" } : undefined;
}

/** Those that harm nobody, no matter who wrote them. */
const harmless: ReadonlySet<CommandName> = new Set(["help", "new", "stop", "status", "usage"]);

/**
 * The command of a message. In text that others wrote only a harmless one counts: anyone who passes it on orders nothing.
 * A person's own short line that begins like a command is one too, though an unknown one.
 */
export function commandOf(message: InboundMessage): ChatCommand | UnknownCommand | undefined {
  const { content, outside } = message;
  const command = parseCommand(content);
  if (command === undefined) return unknownIn(message);
  return outside === undefined || harmless.has(command.name) ? command : undefined;
}

/** Not anything with files or from a job. */
function unknownIn({ content, outside, attachments, change, ...from }: InboundMessage): UnknownCommand | undefined {
  const isOwnWords = [outside, change, from.jobId, from.taskId, from.resultOf].every((mark) => mark === undefined);
  if (!isOwnWords || from.internal === true || attachments.length > 0) return undefined;
  const word = slashWordOf(content);
  return word === undefined ? undefined : { name: "unknown", argument: word };
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

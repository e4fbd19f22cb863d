import { suggest } from "../../util/text/suggest.js";
import { toFreshStart } from "../session-state.js";
import { type ChatCommand, commands, type UnknownCommand } from "./chat-command.js";
import { runCompactCommand } from "./compact.js";
import { runModelCommand } from "./model.js";
import { runPlanCommand } from "./plan.js";
import { runRetryCommand } from "./retry.js";
import type { CommandOutcome, CommandScope } from "./scope.js";
import { undoLast } from "./undo.js";
import { runUsageCommand } from "./usage.js";

/** Answers a command that was not taken by a running turn. */
export async function runCommand(command: ChatCommand | UnknownCommand, scope: CommandScope): Promise<CommandOutcome> {
  const { ports, session, message, log } = scope;
  switch (command.name) {
    case "help":
      return {
        reply: Object.entries(commands)
          .filter(([name]) => name !== "pair" || ports.chat.isOwner(message.channel, message.senderId))
          .map(([name, meaning]) => `/${name} – ${meaning}`)
          .join("\n"),
        events: [],
      };
    case "new": {
      await ports.sessions.keepOlderText(session, message);
      const { state } = session.document;
      const unread =
        command.argument === "" ? "" : " I did not read the words after /new. Send them as a message of their own.";
      return {
        reply: `A fresh conversation. I no longer see what was said before.${unread}`,
        events: toFreshStart(log, state, state === "created" ? state : "idle"),
      };
    }
    case "undo":
      return undoLast(log, session, message, ports.chat.isOwner);
    case "retry":
      return runRetryCommand(scope);
    case "compact":
      return await runCompactCommand(scope);
    case "stop": {
      const stopped = await ports.tasks.stop(session.key);
      const what = stopped === 1 ? "one sub-agent" : `${stopped} sub-agents`;
      return { reply: stopped === 0 ? "Nothing is running." : `Stopped ${what}.`, events: [] };
    }
    case "approve":
    case "deny":
      return { reply: "Nothing is waiting for your approval here.", events: [] };
    case "status":
      return { reply: await ports.commands.statusLine(), events: [] };
    case "model":
      return await runModelCommand(command.argument, scope);
    case "unknown":
      return { reply: unknownText(command.argument), events: [] };
    case "usage":
      return runUsageCommand(scope);
    case "plan":
      return runPlanCommand(command.argument, scope);
    case "skills":
    case "cron":
    case "pair":
      return {
        reply: await ports.commands.operate({ name: command.name, argument: command.argument }, message),
        events: [],
      };
  }
}

/** Telegram's clients send `/start` by themselves, to begin with a bot. */
function unknownText(word: string): string {
  if (word === "start") return "Hello. Write to me as you would to a person. /help lists the commands.";
  const like = suggest(word, Object.keys(commands));
  const hint = like === undefined ? "" : ` Did you mean /${like}?`;
  return `/${word} is not a command.${hint} /help lists them. To send it as text, begin with two slashes.`;
}

import type { Command } from "commander";
import { CommandError, exitCodes } from "../../exit.js";

interface AgentFlags {
  readonly message?: string;
  readonly session: string;
  readonly config?: string;
}

export function addAgentCommand(program: Command, version: string): void {
  program
    .command("agent")
    .description("Interact with the agent here in the terminal")
    .option("-m, --message <text>", "send this and print only the answer; - takes the message from stdin")
    .option("-s, --session <key>", "the conversation to go on with", "cli:default")
    .option("-c, --config <file>", "use this config file, if no gateway is running")
    .addHelpText(
      "after",
      "\nWithout -m: a conversation, or, with a pipe on stdin, one message." +
        "\nUses the gateway that runs, else its own for as long as this takes. Ctrl+C stops the answer.",
    )
    .allowExcessArguments()
    .action(async (flags: AgentFlags, { args }: Command) => {
      if (args.length > 0) throw new CommandError(howToSend(flags, args), exitCodes.usage);
      const message = await messageOf(flags);
      const [{ openContext }, { connect, connectRunning }] = await Promise.all([
        import("../../context.js"),
        import("../../gateway/connect.js"),
      ]);
      const context = await openContext(flags.config);
      await using connection = await connect(context, { version, graceMs: 5000, isWorking: true });
      const gateway = {
        client: connection.client,
        reconnect: async () => (connection.isOwn ? undefined : await connectRunning(context)),
        token: context.loaded.config.gateway.token,
      };
      const sessionKey = flags.session.includes(":") ? flags.session : `cli:${flags.session}`;
      if (message !== undefined) {
        const { askOnce } = await import("../../chat/agent-once.js");
        process.exitCode = await askOnce({ sessionKey, content: message }, gateway);
      } else {
        const { chat } = await import("../../chat/agent-chat.js");
        await chat(sessionKey, gateway);
      }
    });
}

/** For who has left out -m, or the quotes around the message. */
function howToSend({ message }: AgentFlags, args: readonly string[]): string {
  const text = [...(message === undefined ? [] : [message]), ...args].join(" ");
  const quoted = /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
  return `The message goes behind -m, in quotes: maxclaw agent -m ${quoted}`;
}

/** The one message to send; undefined for a conversation. */
async function messageOf(flags: AgentFlags): Promise<string | undefined> {
  const fromPipe = flags.message === "-" || (flags.message === undefined && !process.stdin.isTTY);
  const message = fromPipe ? await readStdin() : flags.message;
  if (message !== undefined && message.trim() === "")
    throw new CommandError("There is nothing to send: the message is empty.", exitCodes.usage);
  return message;
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8").trim();
}

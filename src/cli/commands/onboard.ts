import type { Command } from "commander";
import type { OnboardFlags } from "../onboard/flags.js";

export function addOnboardCommand(program: Command): void {
  program
    .command("onboard")
    .description("Set up the model, a channel and the service, step by step; also what is there already")
    .option("-y, --yes", "ask nothing: the flags say everything")
    .option("--force", "begin with a new config; a copy of the old one is kept")
    .option("--offline", "test nothing: ask no provider and no platform")
    .option("--provider <name>", "who runs the model, e.g. openrouter, anthropic, openai, ollama")
    .option("--key, --api-key <key>", "the provider's key; others on this machine can see it here")
    .option("--key-env <variable>", "the variable that holds the key; the config names it")
    .option("--key-stdin", "read the key from a pipe")
    .option("--api-base <url>", "the provider's address, if it is not its usual one")
    .option("--model <id>", "the model, as the provider names it")
    .option("--channel <name>", "where you write to it, e.g. telegram, discord, email; or none")
    .option("--token <token>", "the bot's token, or the mailbox's password; others on this machine can see it here")
    .option("--token-env <variable>", "the variable that holds it; the config names it")
    .option("--token-stdin", "read it from a pipe, behind the key")
    .option("--set <key=value...>", "another thing that the channel needs, e.g. appToken=xapp-1")
    .option("--address <mail>", "with --channel email: the mailbox of the assistant")
    .option("--imap <host>", "with --channel email: the server that it is read from, also host:port")
    .option("--smtp <host>", "with --channel email: the server that it sends through, also host:port")
    .option("--consent", "with --channel email: the mailbox's owner agrees that a program reads it")
    .option("--owner <id>", "who may command everything from that channel, e.g. 123456789; gets a test message")
    .option("--service", "let the system start the gateway")
    .option("--no-service", "do not ask for that")
    .action(async (flags: OnboardFlags) => {
      const { Onboarding } = await import("../onboard/run.js");
      const mayAsk = flags.yes !== true && process.stdin.isTTY && process.stderr.isTTY;
      process.exitCode = await new Onboarding(flags, mayAsk).run();
    });
}

import { type Command, InvalidArgumentError } from "commander";
import type { SentFlags } from "../../sessions-sent.js";

/** `sessions sent`: what went to the model, of the gateway that sent it. */
export function addSentCommand(sessions: Command): void {
  sessions
    .command("sent")
    .description("Show what was sent to the model in a turn, byte for byte, while the gateway that sent it runs")
    .argument("<key>", "e.g. telegram:42")
    .argument("[turn]", "e.g. turn_0f3a…; without it the newest")
    .option(
      "--call <n>",
      "write the whole request of this call to stdout; the last attempt, where there were several",
      parseCall,
    )
    .option("--json", "as JSON, with the requests")
    .action(async (key: string, turn: string | undefined, flags: SentFlags) => {
      const { showSent } = await import("../../sessions-sent.js");
      await showSent(key, turn, flags);
    });
}

function parseCall(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("A call is a whole number from 1, e.g. 2.");
  return Number(text);
}

import { type Command, InvalidArgumentError } from "commander";
import { CommandError } from "../../exit.js";
import { segment } from "../../gateway/api-client.js";

interface AttachFlags {
  readonly from: number;
  readonly json?: true;
  readonly config?: string;
}

export function addAttachCommand(program: Command): void {
  program
    .command("attach")
    .description("Show a conversation and follow it live; Ctrl+C leaves")
    .argument("<key>", "e.g. telegram:42; work is cli:work")
    .option("--from <seq>", "only what came after this sequence number", parseSequence, 0)
    .option("--json", "every event as a line of JSON")
    .option("-c, --config <file>", "use this config file")
    .addHelpText("after", "\nA gateway that restarts is waited for; nothing is left out and nothing shown twice.")
    .action(async (key: string, { from, json, config }: AttachFlags) => {
      const [{ openContext }, { connectRunning }, { stopSignals }] = await Promise.all([
        import("../../context.js"),
        import("../../gateway/connect.js"),
        import("../../gateway/signals.js"),
      ]);
      const context = await openContext(config);
      const gateway = await connectRunning(context);
      if (gateway === undefined)
        throw new CommandError("No gateway is running for this home. Start it with: maxclaw gateway");
      const sessionKey = key.includes(":") ? key : `cli:${key}`;
      // Says what is wrong, where a WebSocket is only refused.
      await gateway.get(`/api/sessions/${segment(sessionKey)}/status`);
      const { attach } = await import("../../chat/attach.js");
      const { home, loaded } = context;
      const { token } = loaded.config.gateway;
      await attach({ home, token, sessionKey, fromSequence: from, isJson: json === true }, stopSignals());
    });
}

function parseSequence(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("A sequence number is 0 or more.");
  return Number(text);
}

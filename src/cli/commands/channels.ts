import type { Command } from "commander";
import { openContext } from "../context.js";
import type { ChannelToDo, ShownChannel } from "../text/answers.js";
import { print, printJson, printTable } from "../text/output.js";

export function addChannelsCommand(program: Command): void {
  program
    .command("channels")
    .description("List the channels that are switched on, and how each is connected")
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      const [context, { connectRunning }, { channelsIn }] = await Promise.all([
        openContext(),
        import("../gateway/connect.js"),
        import("../text/answers.js"),
      ]);
      const client = await connectRunning(context);
      const { config, off } = context.loaded;
      const channels: readonly ShownChannel[] =
        client === undefined
          ? [
              ...Object.keys(config.channels).map((name) => ({ name, state: "not running", reason: undefined })),
              ...off.flatMap(({ section, reason }) =>
                section.startsWith("channels.")
                  ? [{ name: section.slice("channels.".length), state: "off", reason }]
                  : [],
              ),
            ]
          : channelsIn(await client.get("/api/status"));
      if (json) return printJson({ running: client !== undefined, channels });
      if (channels.length === 0) return print("No channel is switched on. Set one up with: maxclaw onboard");
      printTable(
        ["channel", "state", "reason"],
        channels.map(({ name, state, reason = "" }) => [name, state, reason]),
      );
      for (const { toDo } of channels) if (toDo !== undefined) await printToDo(toDo);
      if (client === undefined) print("No gateway is running. Start it with: maxclaw gateway");
    });
}

/** What the owner must do, with the code that a phone must scan where somebody looks at it. */
async function printToDo({ text, scan }: ChannelToDo): Promise<void> {
  print(text.en);
  if (scan === undefined) return;
  const { printQr } = await import("../text/qr.js");
  if (process.stdout.isTTY) await printQr(scan);
  else print(scan);
}

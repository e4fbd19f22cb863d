import type { Command } from "commander";
import { openContext } from "../context.js";
import { print, printJson, printTable } from "../text/output.js";

export function addChannelsCommand(program: Command): void {
  program
    .command("channels")
    .description("List the channels that are switched on, and how each is connected")
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      const [{ connectRunning }, { channelsIn }] = await Promise.all([
        import("../gateway/connect.js"),
        import("../text/answers.js"),
      ]);
      const context = await openContext();
      const client = await connectRunning(context);
      const { config, off } = context.loaded;
      const channels =
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
      if (client === undefined) print("No gateway is running. Start it with: maxclaw gateway");
    });
}

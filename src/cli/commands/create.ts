import type { Command } from "commander";
import { print } from "../text/output.js";

export function addCreateCommand(program: Command): void {
  program
    .command("create")
    .description("Write the beginning of an extension")
    .command("channel")
    .description("a chat platform of your own, with its tests, in a new folder")
    .argument("<name>", "as it begins the keys of its chats, e.g. my-chat")
    .option("--in <folder>", "where to make the folder", ".")
    .action(async (name: string, { in: below }: { readonly in: string }) => {
      const { createChannel } = await import("../create/channel.js");
      for (const file of await createChannel(name, below)) print(file);
      print(`Read README.md there. It says how to test ${name}, and how to put it into the config.`);
    });
}

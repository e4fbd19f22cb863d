import { type Command, Option } from "commander";
import { readConversation } from "./gateway/read-conversation.js";
import { printNote } from "./text/output.js";

interface ExportFlags {
  readonly format: "markdown" | "json";
}

export function addExportCommand(sessions: Command, version: string): void {
  sessions
    .command("export")
    .description("Write a conversation into a file, or to stdout")
    .argument("<key>", "e.g. telegram:42")
    .argument("[file]", "without it, stdout")
    .addOption(new Option("--format <name>", "what is written").choices(["markdown", "json"]).default("markdown"))
    .action(async (key: string, file: string | undefined, { format }: ExportFlags) => {
      const [{ exportDocument }, { writePieces }] = await Promise.all([
        import("../offline/sessions/export.js"),
        import("./text/write-pieces.js"),
      ]);
      const { document } = await readConversation(version, key);
      await writePieces(exportDocument(document, format).pieces, file);
      if (file !== undefined) printNote(`Wrote ${key} to ${file}`);
    });
}

import type { Command } from "commander";
import { sizeOf } from "../../../client/notices.js";
import type { Manifest } from "../../../offline/backup.js";
import { counted } from "../../../util/text/counted.js";
import { print, printJson, printNote } from "../../text/output.js";

interface Flags {
  readonly secrets?: true;
  readonly config?: string;
  readonly json?: true;
}

export function addBackupCommand(program: Command, version: string): void {
  program
    .command("backup")
    .description("Write home and workspace into one file, also while the gateway runs")
    .argument("[file]", "where to; default: maxclaw-backup-<time>.tar.gz here")
    .option("--secrets", "with API keys, tokens and secrets.json; without it they are left out")
    .option("-c, --config <file>", "use this config file, and include it")
    .option("--json", "as JSON")
    .action(async (file: string | undefined, flags: Flags) => {
      const [{ openContext }, { withFiles }, { makeBackup }, { configOfBackup }, last, { resolve }] = await Promise.all(
        [
          import("../../context.js"),
          import("../../gateway/with-files.js"),
          import("../../../offline/backup.js"),
          import("../../../config/document/config-of-backup.js"),
          import("../../../offline/last-backup.js"),
          import("node:path"),
        ],
      );
      const context = await openContext(flags.config);
      const target = resolve(file ?? last.backupNameAt(new Date()));
      const hasSecrets = flags.secrets === true;
      const { config, placeholders, problem } = await configOfBackup(context.loaded.path, hasSecrets);
      const { leftInDatabase } = await import("../../gateway/in-database.js");
      const elsewhere = leftInDatabase(context.loaded.config);
      const manifest = await withFiles(
        context,
        (files, signal, release) =>
          makeBackup(
            files,
            { file: target, maxclaw: version, config, placeholders, hasSecrets, elsewhere, onStateDone: release },
            signal,
          ),
        "files",
      );
      await last.rememberBackup(context.home, target);
      if (problem !== undefined) printNote(`maxclaw: ${problem}`);
      if (hasSecrets && (await isReached(target, manifest)))
        printNote(
          `maxclaw: ${target} is in the workspace, where the assistant's tools can read it, with your keys and tokens in it. Move it out.`,
        );
      if (flags.json) {
        const { files, ...about } = manifest;
        return printJson({ file: target, ...about, files: files.length });
      }
      printBackup(target, manifest);
    });
}

/** By what is true of the disk: a link may lead there. */
async function isReached(file: string, { workspace }: Manifest): Promise<boolean> {
  const [{ isInside }, { realpath }] = await Promise.all([
    import("../../../offline/files.js"),
    import("node:fs/promises"),
  ]);
  const [real, root] = await Promise.all([file, workspace].map((path) => realpath(path).catch(() => path)));
  return real !== undefined && root !== undefined && isInside(real, root);
}

function printBackup(target: string, { files, leftOut, hasSecrets, placeholders, isLive }: Manifest): void {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  print(
    `Wrote ${target}: ${counted(files.length, "file")}, ${sizeOf(bytes)}${isLive ? ", while the gateway runs" : ""}.`,
  );
  if (hasSecrets) print("It holds your keys and tokens: keep it where nobody else can read it.");
  else
    print(
      `Keys and tokens are not in it${placeholders.length === 0 ? "" : ` (${placeholders.length} in the config)`}; --secrets includes them.`,
    );
  for (const { path, why } of leftOut) printNote(`maxclaw: ${path} is not in the backup: ${why}`);
}

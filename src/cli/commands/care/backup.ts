import type { Command } from "commander";
import { sizeOf } from "../../../client/notices.js";
import type { Manifest } from "../../../offline/backup.js";
import { counted } from "../../../util/text/counted.js";
import type { CommandContext } from "../../context.js";
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
      const [{ openContext }, { withFiles }, { makeBackup }, { resolve }] = await Promise.all([
        import("../../context.js"),
        import("../../gateway/with-files.js"),
        import("../../../offline/backup.js"),
        import("node:path"),
      ]);
      const context = await openContext(flags.config);
      const target = resolve(file ?? `maxclaw-backup-${stamp()}.tar.gz`);
      const hasSecrets = flags.secrets === true;
      const { config, placeholders, problem } = await configFor(context, hasSecrets);
      const manifest = await withFiles(context, (files, signal, release) =>
        makeBackup(
          files,
          { file: target, maxclaw: version, config, placeholders, hasSecrets, onStateDone: release },
          signal,
        ),
      );
      await rememberBackup(context.home, target);
      if (problem !== undefined) printNote(`maxclaw: ${problem}`);
      if (flags.json) {
        const { files, ...about } = manifest;
        return printJson({ file: target, ...about, files: files.length });
      }
      printBackup(target, manifest);
    });
}

/** So that `maxclaw doctor` knows how old the newest one is. A home that cannot be written to has its backup all the same. */
async function rememberBackup(home: string, file: string): Promise<void> {
  const [{ writeFile }, { join }, { lastBackupName }] = await Promise.all([
    import("node:fs/promises"),
    import("node:path"),
    import("../../../doctor/checks/home/backups.js"),
  ]);
  const text = JSON.stringify({ at: new Date().toISOString(), file });
  await writeFile(join(home, lastBackupName), `${text}\n`, { mode: 0o600 }).catch(() => undefined);
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

/** The config file as it should be in the backup. */
export async function configFor(
  { loaded: { path } }: CommandContext,
  hasSecrets: boolean,
): Promise<{
  readonly config: { readonly name: string; readonly content: Buffer } | undefined;
  readonly placeholders: readonly string[];
  readonly problem?: string;
}> {
  if (path === undefined) return { config: undefined, placeholders: [] };
  const [{ readFile }, { extname }, { redactConfig }] = await Promise.all([
    import("node:fs/promises"),
    import("node:path"),
    import("../../../config/redact.js"),
  ]);
  const name = [".yaml", ".yml"].includes(extname(path).toLowerCase()) ? "config.yaml" : "config.json";
  const content = await readFile(path);
  if (hasSecrets) return { config: { name, content }, placeholders: [] };
  const redacted = await redactConfig(path, content.toString());
  if (redacted === undefined) {
    const problem = `${path} is not in the backup: it cannot be parsed, so nobody can tell what in it is secret`;
    return { config: undefined, placeholders: [], problem };
  }
  return { config: { name, content: Buffer.from(redacted.text) }, placeholders: redacted.placeholders };
}

/** `2026-11-21-140355` by this machine's clock. */
function stamp(): string {
  const at = new Date();
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}-${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
}

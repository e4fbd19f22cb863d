import { type Command, InvalidArgumentError } from "commander";
import type { Manifest } from "../../../offline/backup.js";
import type { Restored } from "../../../offline/restore.js";
import { counted } from "../../../util/text/counted.js";
import { print, printJson, printNote } from "../../text/output.js";
import { whileSaying } from "../../text/while-saying.js";

interface Flags {
  readonly force?: true;
  readonly workspace?: string;
  readonly json?: true;
}

export function addRestoreCommand(program: Command): void {
  program
    .command("restore")
    .description("Restore a backup into an empty home; stop the gateway first")
    .argument("<file>", "what maxclaw backup wrote", parseFile)
    .option("--force", "set aside what is there; nothing is deleted")
    .option("--workspace <folder>", "put the workspace there, and not where the config in the backup has it")
    .option("--json", "as JSON")
    .action(async (file: string, flags: Flags) => {
      const [{ findHome }, { homedir }, { resolve }, { inspectBackup, restoreBackup }] = await Promise.all([
        import("../../../config/home.js"),
        import("node:os"),
        import("node:path"),
        import("../../../offline/restore.js"),
      ]);
      const { env } = process;
      const home = findHome(env, env.HOME ?? homedir());
      const { signal } = new AbortController();
      const { inspected, workspace, restored } = await whileSaying(
        `Restoring ${resolve(file)} to ${home} …`,
        async () => {
          const inspected = await inspectBackup(resolve(file), signal);
          const chosen = flags.workspace === undefined ? undefined : resolve(flags.workspace);
          const workspace = chosen ?? (await workspaceOf(inspected.config, home));
          const moveWorkspace = chosen === undefined ? undefined : writeInto(inspected.config?.name, chosen);
          const force = flags.force === true;
          const request = { file: resolve(file), inspected, home, workspace, moveWorkspace, force };
          return { inspected, workspace, restored: await restoreBackup(request, signal) };
        },
      );
      const { files: _files, ...about } = inspected.manifest;
      if (flags.json) return printJson({ ...about, restoredTo: { home, workspace }, ...restored });
      printRestored(inspected.manifest, { home, workspace }, restored);
    });
}

function parseFile(text: string): string {
  if (text === "") throw new InvalidArgumentError("Name the file of a backup.");
  return text;
}

/** Changes the restored config, or makes one. */
function writeInto(name = "config.json", workspace: string): (home: string) => Promise<void> {
  return async (home) => {
    const [{ editConfig }, { join }] = await Promise.all([import("../../../config/edit.js"), import("node:path")]);
    await editConfig(join(home, name), [{ path: ["agents", "defaults", "workspace"], value: workspace }]);
  };
}

/** Where the config of the backup puts the workspace, once it is in this home. */
async function workspaceOf(
  config: { readonly name: string; readonly content: Buffer } | undefined,
  home: string,
): Promise<string> {
  const [{ mkdtemp, rm, writeFile }, { tmpdir, homedir }, { join, relative, isAbsolute }, { loadConfig }] =
    await Promise.all([
      import("node:fs/promises"),
      import("node:os"),
      import("node:path"),
      import("../../../config/load.js"),
    ]);
  if (config === undefined) return join(home, "workspace");
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-restore-"));
  try {
    await writeFile(join(folder, config.name), config.content, { mode: 0o600 });
    const loaded = await loadConfig({ home: folder, env: { HOME: homedir(), ...process.env } });
    const { workspace } = loaded.config.agents.defaults;
    const way = relative(folder, workspace);
    return way.startsWith("..") || isAbsolute(way) ? workspace : join(home, way);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function printRestored(
  { createdAt, maxclaw, files, hasSecrets, placeholders, home: oldHome }: Manifest,
  { home, workspace }: { readonly home: string; readonly workspace: string },
  { aside, waiting, problem }: Restored,
): void {
  print(
    `Restored ${counted(files.length, "file")} to ${home}, as they were at ${createdAt} (maxclaw ${maxclaw}, ${oldHome}).`,
  );
  if (workspace !== `${home}/workspace`) print(`The workspace is ${workspace}.`);
  for (const path of aside) print(`What was there before is in ${path}`);
  if (!hasSecrets) {
    print("Keys and tokens were not in the backup: write secrets.json again, or set them in the environment.");
    for (const name of placeholders) print(`  ${name}`);
  }
  if (problem !== undefined) printNote(`maxclaw: ${problem}`);
  if (waiting !== undefined && waiting.messages + waiting.replies > 0) {
    print(
      `Waiting: ${counted(waiting.messages, "message")} to be answered, ${counted(waiting.replies, "reply", "replies")} to be sent.`,
    );
    print("If the old gateway went on after the backup was made, these may be answered or sent a second time.");
  }
  print("Next: maxclaw ledger check, then maxclaw gateway");
}

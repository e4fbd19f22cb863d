import type { Command } from "commander";
import type { GatewayFiles } from "../../../offline/events.js";
import { CommandError, exitCodes, whileChecking } from "../../exit.js";
import { print, printJson } from "../../text/output.js";
import { openProgress } from "../../text/progress.js";

interface Flags {
  readonly config?: string;
  readonly json?: true;
}

interface VerifyFlags extends Flags {
  readonly progress?: true;
}

export function addEventsCommand(program: Command): void {
  const events = program.command("events").description("Inspect the stored events");
  events
    .command("verify")
    .description(
      "Check what is stored for damage, gaps, repeats and broken causes; exit code 1 if there is any, 3 if this could not be checked",
    )
    .argument("[key]", "only this session, e.g. telegram:42")
    .option("-c, --config <file>", "use this config file, to find the workspace")
    .option("--json", "as JSON")
    .option("--progress", "show progress on stderr, as it does on a terminal")
    .action(async (key: string | undefined, flags: VerifyFlags) => {
      const { verifyWhole } = await import("../../../offline/doctor.js");
      using progress = openProgress(process.stderr, flags.progress === true);
      const report = await whileChecking(() =>
        withStoredEvents(flags, (files, signal) => verifyWhole(files, key, { signal, onProgress: progress.show })),
      );
      progress.end();
      if (key !== undefined && report.sessions + report.events + report.problemCount === 0)
        throw new CommandError(`There is no session ${key} in the files.`);
      if (flags.json) printJson({ ok: report.problemCount === 0, ...report });
      else {
        const { reportLines } = await import("../../text/records/events.js");
        for (const line of reportLines(report)) print(line);
      }
      const isUnchecked = report.problems.some(({ kind }) => kind === "unreadable");
      if (report.problemCount > 0) process.exitCode = isUnchecked ? exitCodes.unchecked : exitCodes.failure;
    });
  events
    .command("trace")
    .description("Show where an event is stored, what caused it, what followed from it, and what was delivered")
    .argument("<event-id>", "e.g. evt_0123456789abcdef0123")
    .option("-c, --config <file>", "use this config file, to find the workspace")
    .option("--json", "as JSON")
    .action(async (eventId: string, flags: Flags) => {
      const { traceEvent } = await import("../../../offline/events.js");
      const trace = await withStoredEvents(flags, (files, signal) => traceEvent(files, eventId, signal));
      if (trace === undefined)
        throw new CommandError(
          `No event ${eventId} is stored. Events of the stream layer never are, and those of a deleted session are gone.`,
        );
      if (flags.json) return printJson(trace);
      const { traceLines } = await import("../../text/records/events.js");
      for (const line of traceLines(trace)) print(line);
    });
}

async function withStoredEvents<T>(
  { config }: Flags,
  action: (files: GatewayFiles, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [{ openContext }, { withFiles }] = await Promise.all([
    import("../../context.js"),
    import("../../gateway/with-files.js"),
  ]);
  return await withFiles(await openContext(config), (files, signal) => action(files, signal));
}

import { join } from "node:path";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../../exit.js";
import { print, printJson } from "../../text/output.js";

export function addReplayCommand(program: Command): void {
  program
    .command("replay")
    .description("Run a past turn again, offline, with its recorded answers and results; exit code 1 if it differs")
    .argument("<turn>", "e.g. turn_0f3a…, as events and error messages name it")
    .option("-c, --config <file>", "use this config file")
    .option("--json", "as JSON, with both events where they differ")
    .action(async (turnId: string, { config, json }: { readonly config?: string; readonly json?: true }) => {
      const [
        { openContext },
        { findTurn },
        { NotReplayable, readRecordedTurn },
        { replayTurn, seqOffset },
        compare,
        text,
      ] = await Promise.all([
        import("../../context.js"),
        import("../../../replay/find-turn.js"),
        import("../../../replay/recorded-turn.js"),
        import("../../../replay/replay-turn.js"),
        import("../../../replay/compare.js"),
        import("../../text/records/replay.js"),
      ]);
      const { home, loaded } = await openContext(config);
      const found = await findTurn(home, join(loaded.config.agents.defaults.workspace, ".sessions"), turnId);
      if (found === undefined)
        throw new CommandError(
          `No session's log contains the turn ${turnId}. "maxclaw sessions list" names the sessions.`,
        );
      try {
        const turn = readRecordedTurn(found, turnId);
        const difference = compare.firstDifference(turn.events, await replayTurn(turn), seqOffset(turn.before));
        if (json) printJson(text.toReport(turn, difference));
        else for (const line of text.linesOf(turn, difference)) print(line);
        if (difference !== undefined) process.exitCode = exitCodes.failure;
      } catch (error) {
        if (error instanceof NotReplayable) throw new CommandError(error.message);
        throw error;
      }
    });
}

import { join } from "node:path";
import { waitForTurn } from "../../api/turns/wait-for-turn.js";
import { RunReports } from "../../schedule/run-reports.js";
import { Schedule } from "../../schedule/schedule.js";
import type { Releases } from "../../util/async/releases.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import { type GatewayOptions, isWorking } from "../options.js";

export interface OpenedSchedule {
  readonly schedule: Schedule;
  readonly reports: RunReports;
}

/** What other nodes have changed in the jobs is seen so soon. */
const sharedLookMs = 2000;

/** What the assistant does by itself at its time. */
export async function openSchedule(
  options: GatewayOptions,
  core: Core,
  { mind }: Assistant,
  releases: Releases,
): Promise<OpenedSchedule> {
  const { log, now = Date.now } = options;
  const work = isWorking(options);
  const { workspace } = options.config.config.agents.defaults;
  const { engine, sessions, messages, lives, events: bus } = core;
  const reports = new RunReports({
    engine,
    sessions,
    messages,
    waitForTurn: (...turn) => waitForTurn({ bus, sessions, engine }, ...turn),
    log,
  });
  const records = {
    jobs: await engine.records.open("cron"),
    runs: await engine.records.open("cron_runs"),
    taken: await engine.records.open("cron_import"),
  };
  const { budgets } = mind;
  const zone = (): string => budgets.calendar.timeZone;
  const schedule = releases.use(
    new Schedule({
      ...{ records, reports, messages, lives, zone, isWorking: work, now, log },
      run: (running, signal) => core.process.alone("schedule", running, signal),
      lookMs: core.process.isClustered ? sharedLookMs : undefined,
    }),
  );
  if (work) schedule.start(join(workspace, ".cron"));
  return { schedule, reports };
}

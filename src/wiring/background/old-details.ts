import { dropOldDetails } from "../../engine/old-details.js";
import type { Releases } from "../../util/async/releases.js";
import type { Core } from "../core/core.js";
import { type GatewayOptions, isWorking } from "../options.js";

/** Leaves old details out of the session logs, if the config says after how many days. */
export async function startOldDetails(options: GatewayOptions, core: Core, releases: Releases): Promise<void> {
  const days = options.config.config.events.detailDays;
  if (days === undefined || core.process.thinLogs === undefined || !isWorking(options)) return;
  const stopping = new AbortController();
  const details = {
    days,
    thin: core.process.thinLogs,
    records: await core.engine.records.open("old_details"),
    now: options.now ?? Date.now,
    log: options.log,
  };
  const running = core.process.alone("old_details", (signal) => dropOldDetails(details, signal), stopping.signal);
  releases.defer(async () => {
    stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await running;
  });
}

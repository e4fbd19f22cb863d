import { Tasks } from "../../agent/tasks/tasks.js";
import type { Releases } from "../../util/async/releases.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import { type GatewayOptions, isWorking } from "../options.js";

/** Sub-agents, which go on from where the last process left them as soon as turns run. */
export async function openTasks(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  releases: Releases,
): Promise<Tasks> {
  const { log, now = Date.now } = options;
  const { live } = assistant;
  const { engine, sessions, events, lives } = core;
  const { running } = assistant.inbound;
  const { models } = assistant.mind;
  const { isOwner } = assistant.people;
  const tasks = new Tasks({
    engine,
    records: await engine.records.open("task"),
    isShared: core.process.isClustered,
    sessions,
    lives,
    running,
    models,
    isOwner,
    get limits() {
      return live.running.agents.spawn;
    },
    now,
    log,
  });
  live.own({ sections: ["agents.spawn"], apply() {} });
  releases.use(tasks);
  if (isWorking(options)) tasks.start(events);
  return tasks;
}

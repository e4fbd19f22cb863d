import { Tasks } from "../../agent/tasks/tasks.js";
import type { Releases } from "../../util/async/releases.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import { type GatewayOptions, isWorking } from "../options.js";

/** Sub-agents, which go on from where the last process left them as soon as turns run. */
export function openTasks(options: GatewayOptions, core: Core, assistant: Assistant, releases: Releases): Tasks {
  const { config, log, now = Date.now } = options;
  const { engine, sessions, events, lives } = core;
  const { running } = assistant.inbound;
  const { models } = assistant.mind;
  const { isOwner } = assistant.people;
  const tasks = new Tasks({
    engine,
    records: engine.records("task"),
    sessions,
    lives,
    running,
    models,
    isOwner,
    limits: config.config.agents.spawn,
    now,
    log,
  });
  releases.use(tasks);
  if (isWorking(options)) tasks.start(events);
  return tasks;
}

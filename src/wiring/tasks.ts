import { Tasks } from "../agent/tasks/tasks.js";
import type { Releases } from "../util/async/releases.js";
import type { Assistant } from "./assistant.js";
import type { Core } from "./core.js";
import type { GatewayOptions } from "./options.js";

/** Sub-agents, which go on from where the last process left them as soon as turns run. */
export function openTasks(options: GatewayOptions, core: Core, assistant: Assistant, releases: Releases): Tasks {
  const { config, log, now = Date.now } = options;
  const { engine, sessions, events, lives } = core;
  const { running, models, isOwner } = assistant;
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
  if (options.work !== false) tasks.start(events);
  return tasks;
}

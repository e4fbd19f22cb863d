import { join } from "node:path";
import { type Budgets, createBudgets } from "../../budgets/budgets.js";
import { createCalendar } from "../../budgets/calendar.js";
import { usageKind } from "../../budgets/counters.js";
import { counts } from "../../budgets/limits.js";
import { draft, type EventDraft } from "../../events/event.js";
import { type ChatMemory, createChatMemory } from "../../memory/chat-memory.js";
import { type ContextFileLoader, createContextFiles } from "../../memory/files.js";
import { createModels, type Models } from "../../providers/catalogue/models.js";
import { type CircuitChange, createCircuits } from "../../providers/circuits.js";
import type { Provider } from "../../providers/provider.js";
import { heartbeatJob } from "../../schedule/heartbeat/job.js";
import { createSkills } from "../../skills/find.js";
import { createSkillSource, type SkillSource } from "../../skills/source.js";
import { isTemplate } from "../../templates/workspace.js";
import { abortable } from "../../util/async/abortable.js";
import { shared } from "../../util/async/shared.js";
import { ownTimeZone } from "../../util/local-time.js";
import { ownPackage } from "../../util/package-folder.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";

/** Shorter than anybody needs to save a file and send a message. */
const sharedMs = 50;

/** What the assistant thinks with, and what it knows. */
export interface Mind {
  readonly models: Models;
  readonly budgets: Budgets;
  readonly skills: SkillSource;
  readonly contextFiles: ContextFileLoader;
  /** What guests and groups have in the place of the owner's memory. */
  readonly chatMemory: ChatMemory;
}

export async function openMind(options: GatewayOptions, core: Core): Promise<Mind> {
  const { log, now = Date.now } = options;
  const { config } = options.config;
  const { workspace, enableGlobalSkills, timezone } = config.agents.defaults;
  const loader = createContextFiles(workspace, { isTemplate });
  const skills = createSkills({ workspace, bundled: join(ownPackage().folder, "skills"), enableGlobalSkills });
  return {
    models: openModels(options, core, now),
    budgets: createBudgets({
      limits: config.budgets,
      jobs: { [heartbeatJob]: config.heartbeat.budget },
      records: await core.engine.records.open(usageKind),
      calendar: createCalendar(timezone ?? ownTimeZone()),
      log,
      now,
    }),
    skills: createSkillSource(skills, config.skills.default),
    contextFiles: { load: shared(() => loader.load(), sharedMs) },
    chatMemory: createChatMemory(core.files.kept, core.provenance.markForeign),
  };
}

/** One that somebody else has written and that does not listen to the signal holds up neither a stop nor a chat. */
function endingWithSignal(provider: Provider): Provider {
  return {
    name: provider.name,
    stream: (request, signal) => abortable(provider.stream(request, signal), signal),
  };
}

function openModels({ config: { config }, added, log }: GatewayOptions, core: Core, now: () => number): Models {
  return createModels({
    providers: config.providers,
    own: added?.providers?.map(endingWithSignal),
    defaults: config.agents.defaults,
    prices: config.prices,
    needsPrices: counts(config.budgets, "usd"),
    circuits: createCircuits({ now, onChange: (change) => core.logEvent(circuitEvent(change)) }),
    onConnection: ({ name, ...change }) =>
      core.logEvent(
        draft("connection_state_changed", { peer: "provider", name, ...change }, { source: `provider:${name}` }),
      ),
    log,
  });
}

const circuitStates = { closed: "connected", open: "disconnected", half_open: "reconnecting" } as const;

function circuitEvent({ provider, model, from, to, reason }: CircuitChange): EventDraft {
  return draft(
    "connection_state_changed",
    { peer: "provider", name: `${provider}/${model}`, from: circuitStates[from], to: circuitStates[to], reason },
    { source: `provider:${provider}` },
  );
}

import { join } from "node:path";
import { SentRequests } from "../../agent/model/sent-requests.js";
import { type Budgets, createBudgets } from "../../budgets/budgets.js";
import { createCalendar } from "../../budgets/calendar.js";
import { usageKind } from "../../budgets/counters.js";
import { counts } from "../../budgets/limits.js";
import { SharedTurns, sharedTurnsKind } from "../../budgets/shared-turns.js";
import type { LiveConfig } from "../../config/live/live-config.js";
import type { Config } from "../../config/schema.js";
import { draft, type EventDraft } from "../../events/event.js";
import { type ChatMemory, createChatMemory } from "../../memory/chat-memory.js";
import { type ContextFileLoader, createContextFiles } from "../../memory/files.js";
import { Learned } from "../../memory/owner/learned.js";
import { OwnerMemory } from "../../memory/owner/owner-memory.js";
import { createModels, type Models } from "../../providers/catalogue/models.js";
import { providerAnswers } from "../../providers/catalogue/provider-answers.js";
import { type CircuitChange, type Circuits, createCircuits } from "../../providers/circuits.js";
import type { Provider } from "../../providers/provider.js";
import { heartbeatJob } from "../../schedule/heartbeat/job.js";
import { createSkills } from "../../skills/find.js";
import { createSkillSource, type SkillSource } from "../../skills/source.js";
import { isTemplate } from "../../templates/workspace.js";
import { abortable } from "../../util/async/abortable.js";
import { Shared } from "../../util/async/shared.js";
import { ownPackage } from "../../util/package-folder.js";
import type { Core } from "../core/core.js";
import { budgetsThrough, modelsThrough, skillsThrough } from "../live/through.js";
import type { GatewayOptions } from "../options.js";

/** Shorter than anybody needs to save a file and send a message. */
const sharedMs = 50;

/** What the assistant thinks with, and what it knows. */
export interface Mind {
  readonly models: Models;
  /** Whether a provider answers, by a question that costs nothing; undefined where there is no address to ask. */
  readonly answers: (provider: string, signal: AbortSignal) => Promise<boolean | undefined>;
  readonly budgets: Budgets;
  readonly skills: SkillSource;
  readonly contextFiles: ContextFileLoader;
  /** What guests and groups have instead of the owner's memory. */
  readonly chatMemory: ChatMemory;
  readonly ownerMemory: OwnerMemory;
  /** What was sent to models. */
  readonly sent: SentRequests;
}

export async function openMind(options: GatewayOptions, core: Core, live: LiveConfig): Promise<Mind> {
  const { workspace } = options.config.config.agents.defaults;
  const { now = Date.now } = options;
  const circuits = createCircuits({ now, onChange: (change) => core.logEvent(circuitEvent(change)) });
  const sent = new SentRequests({ now });
  core.lives.onLeave("sent requests", async (key) => sent.forget(key));
  const loader = createContextFiles(workspace, { isTemplate });
  const files = new Shared(() => loader.load(), sharedMs);
  return {
    models: openModels(options, core, live, circuits),
    async answers(provider, signal) {
      const isThere = await providerAnswers(live.running.providers, provider, signal);
      if (isThere !== false) circuits.mayTry(provider);
      return isThere;
    },
    budgets: await openBudgets(options, core, live),
    skills: openSkills(core, live),
    contextFiles: { load: () => files.get() },
    chatMemory: createChatMemory(
      core.folders.files.kept,
      core.folders.provenance.markForeign,
      core.process.withSharedFiles,
    ),
    ownerMemory: new OwnerMemory(workspace, new Learned(await core.engine.records.open("learned")), {
      log: options.log,
      alone: core.process.withSharedFiles,
      onChanged: () => files.forget(),
    }),
    sent,
  };
}

/** Counters are records: anyone who reads them next goes on from there. */
async function openBudgets({ log, now = Date.now }: GatewayOptions, core: Core, live: LiveConfig): Promise<Budgets> {
  const records = await core.engine.records.open(usageKind);
  const shared = core.process.isClustered
    ? new SharedTurns(await core.engine.records.open(sharedTurnsKind), log)
    : undefined;
  const open = ({ budgets: limits, heartbeat, agents }: Config): Budgets => {
    const calendar = createCalendar(agents.defaults.timezone);
    return createBudgets({ limits, jobs: { [heartbeatJob]: heartbeat.budget }, records, shared, calendar, log, now });
  };
  let inForce = open(live.running);
  live.own({
    sections: ["budgets", "heartbeat.budget", "agents.defaults.timezone"],
    apply(next) {
      inForce = open(next);
    },
  });
  return budgetsThrough(() => inForce);
}

function openSkills({ process }: Core, live: LiveConfig): SkillSource {
  const open = ({ agents, skills }: Config): SkillSource => {
    const { workspace, enableGlobalSkills } = agents.defaults;
    return createSkillSource(
      createSkills(
        { workspace, bundled: join(ownPackage().folder, "skills"), enableGlobalSkills },
        process.withSharedFiles,
      ),
      skills.default,
    );
  };
  let inForce = open(live.running);
  live.own({
    sections: ["skills", "agents.defaults.enableGlobalSkills"],
    apply(next) {
      inForce = open(next);
    },
  });
  return skillsThrough(() => inForce);
}

/** One that somebody else has written and that does not listen to the signal holds up neither a stop nor a chat. */
function endingWithSignal(provider: Provider): Provider {
  return {
    name: provider.name,
    stream: (request, signal) => abortable(provider.stream(request, signal), signal),
  };
}

function openModels({ added, log }: GatewayOptions, core: Core, live: LiveConfig, circuits: Circuits): Models {
  const open = ({ providers, agents, prices, budgets }: Config): Models =>
    createModels({
      providers,
      own: added?.providers?.map(endingWithSignal),
      defaults: agents.defaults,
      prices,
      needsPrices: counts(budgets, "usd"),
      circuits,
      onConnection: ({ name, ...change }) =>
        core.logEvent(
          draft("connection_state_changed", { peer: "provider", name, ...change }, { source: `provider:${name}` }),
        ),
      log,
    });
  let inForce = open(live.running);
  const settings = ["model", "fallbacks", "thinking", "maxTokens", "contextWindow", "temperature"];
  live.own({
    sections: ["providers", "prices", "budgets", ...settings.map((name) => `agents.defaults.${name}`)],
    apply(next) {
      inForce = open(next);
    },
  });
  return modelsThrough(() => inForce);
}

const circuitStates = { closed: "connected", open: "disconnected", half_open: "reconnecting" } as const;

function circuitEvent({ provider, model, from, to, reason }: CircuitChange): EventDraft {
  return draft(
    "connection_state_changed",
    { peer: "provider", name: `${provider}/${model}`, from: circuitStates[from], to: circuitStates[to], reason },
    { source: `provider:${provider}` },
  );
}

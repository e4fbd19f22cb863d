import { type ContextUse, measureContext } from "../../agent/model/context-use.js";
import { RequestError } from "../../errors.js";
import { createToolRegistry } from "../../tools/registry.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";
import type { Mcp } from "../tools/mcp.js";
import type { OpenedTools } from "../tools/tools.js";
import { chatContextOf } from "../turns/agent-ports.js";

const chooseMs = 5000;

/** Where the tools of turns come from. */
interface ToolSources {
  readonly tools: Pick<OpenedTools, "tools" | "web">;
  readonly mcp: Pick<Mcp, "tools">;
}

/** Measures what a session's next request would take, from what turns are made of. */
export function contextUseOf(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  { tools: { tools, web: changing }, mcp: { tools: source } }: ToolSources,
): (key: string) => Promise<ContextUse> {
  const { mind, readers, live } = assistant;
  const chat = chatContextOf(options, core, assistant);
  // What it would log about its tools the registry of the turns has logged.
  const registry = createToolRegistry(tools, { changing, source });
  return async (key) => {
    const session = await core.sessions.open(key);
    const chain = await mind.models.chain(session.wanted, AbortSignal.timeout(chooseMs));
    const [chosen] = chain.candidates();
    if (chosen === undefined) throw new RequestError("No model is chosen.", { status: 409, code: "no_model" });
    const [files, { listing }] = await Promise.all([
      chat.filesFor(readers.ofSession(key)),
      mind.skills.select("", undefined),
    ]);
    return measureContext({
      chosen,
      files,
      skills: listing,
      tools: registry.declarations(),
      history: session.history,
      compactAt: live.running.agents.defaults.compactAt,
    });
  };
}

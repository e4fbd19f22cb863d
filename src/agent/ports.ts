import type { InboundMessage } from "../bus/messages.js";
import type { Engine, Work } from "../engine/engine.js";
import type { Logger } from "../log.js";
import type { ChosenModel, ToolDeclaration } from "../providers/provider.js";
import type { ResidentSession } from "../sessions/session-store.js";
import type { Tool, ToolAccess, ToolContext, ToolResult } from "../tools/tool.js";
import type { Compaction } from "./compaction.js";
import type { ContextFiles, ListedSkill, SelectedSkill } from "./context.js";
import type { RunningTurns } from "./running-turns.js";

/** The tools on offer. */
export interface Toolbox {
  /** Sorted by name; the same bytes each time. */
  declarations(): readonly ToolDeclaration[];
  find(name: string): Tool | undefined;
  /** Never throws but for an abort: unknown tools, wrong arguments and faults are results. */
  run(name: string, input: unknown, context: ToolContext): Promise<ToolResult>;
}

/** What the message's text and choice of skills come to. */
export interface SkillSelection {
  /** Their text goes into the message. */
  readonly matched: readonly (SelectedSkill & { readonly source: string; readonly truncated: boolean })[];
  readonly missing: readonly string[];
  readonly selector: string;
  /** Named in the system prompt. */
  readonly listing: readonly ListedSkill[];
}

/** Everything that shapes the context beside the session. */
export interface ContextSources {
  files(): Promise<ContextFiles>;
  skills(text: string, selected: readonly string[] | undefined): Promise<SkillSelection>;
  readSkill(name: string): Promise<string | undefined>;
}

/** What the agent needs from the rest of the gateway. */
export interface AgentPorts {
  readonly engine: Pick<Engine, "publish" | "onAccepted" | "waiting">;
  /** `open` throws {@link EngineError} `corrupt` when the session's log is damaged. */
  readonly sessions: { open(key: string): Promise<ResidentSession> };
  readonly running: RunningTurns;
  /** @throws {ConfigError} when there is no such model */
  chooseModel(label: string | undefined, signal: AbortSignal): Promise<ChosenModel>;
  readonly tools: Toolbox;
  readonly compaction: Compaction;
  /** Policy: `undefined` when the call may do this, else one sentence for the model. */
  permit(tool: Tool, access: ToolAccess, message: InboundMessage, folder: string): string | undefined;
  isOwner(channel: string, senderId: string): boolean;
  /** Several people may write in the message's chat. */
  isGroup(message: InboundMessage): boolean;
  readonly sources: ContextSources;
  /** The platform messages that show this text in the message's chat; none where people read the events themselves. */
  replies(message: InboundMessage, replyId: string, content: string, turnId: string): readonly Work<"outbound">[];
  /** One line about the gateway, for /status. */
  statusLine(): string;
  sessionFolder(key: string): string;
  readonly workspace: string;
  readonly log: Logger;
}

export interface AgentOptions {
  /** Model calls per turn. */
  readonly maxIterations: number;
  /** Attempts at one model call. */
  readonly maxModelAttempts: number;
  /** Writes a moment for the model. */
  readonly clock: (at: Date) => string;
  readonly persistDetail: boolean;
  readonly persistThoughts: boolean;
}

import type { Budgets } from "../budgets/budgets.js";
import type { Conversation } from "../budgets/turn-budget.js";
import type { Attachment, InboundMessage } from "../bus/messages.js";
import type { Work } from "../engine/engine.js";
import type { HeldPieces } from "../events/bus/held-pieces.js";
import type { Payload } from "../events/catalogue.js";
import type { Machine } from "../events/machines/input.js";
import type { Logger } from "../log.js";
import type { BoundFile, ToolDecision } from "../policy/access.js";
import type { CommandAct } from "../policy/commands/commands.js";
import type { ChosenModel, ModelChain, ToolDeclaration } from "../providers/provider.js";
import type { ResidentSession } from "../sessions/resident-session.js";
import type { Tool, ToolAccess, ToolContext, ToolResult, ToolRun, ToolTasks } from "../tools/tool.js";
import type { Compaction } from "./model/compaction.js";
import type { ContextFiles, ListedSkill, SelectedSkill } from "./model/context.js";
import type { SentRequest } from "./model/sent-requests.js";
import type { StreamTiming } from "./model/stream-timing.js";
import type { OpenQuestions } from "./questions/open-questions.js";
import type { QuietTime } from "./questions/quiet-time.js";
import type { RunningTurns } from "./turn/running-turns.js";

/** The tools on offer. */
export interface Toolbox {
  /** Sorted by name; the same bytes each time. */
  declarations(): readonly ToolDeclaration[];
  /** The tool of that name; with an input, the one that such a call means. */
  find(name: string, input?: unknown): Tool | undefined;
  /** Waits for tools that are only just being connected to, 2 s at most: whose are still missing, by name. */
  settle(signal: AbortSignal): Promise<readonly string[]>;
  /** Never throws, except for an abort: unknown tools, wrong arguments and faults are results. */
  run(name: string, input: unknown, context: ToolContext): Promise<ToolResult>;
}

/** A skill whose text the model gets to see. */
export interface MatchedSkill extends SelectedSkill {
  readonly source: string;
  /** Its text was cut. */
  readonly truncated: boolean;
}

/** What the message's text and choice of skills come to. */
export interface SkillSelection {
  /** Their text goes into the message. */
  readonly matched: readonly MatchedSkill[];
  readonly missing: readonly string[];
  readonly selector: string;
  /** Named in the system prompt. */
  readonly listing: readonly ListedSkill[];
}

/** Everything that shapes the context besides the session. */
export interface ContextSources {
  /** Those that may shape an answer to this message: who reads along may have it told what they say. */
  files(message: InboundMessage): Promise<ContextFiles>;
  skills(text: string, selected: readonly string[] | undefined): Promise<SkillSelection>;
  readSkill(name: string): Promise<MatchedSkill | undefined>;
  readonly compaction: Compaction;
}

/** What a tool call is about to do in a turn. */
export interface PlannedUse {
  readonly tool: Tool;
  readonly access: ToolAccess;
  readonly message: InboundMessage;
  readonly folder: string;
  /** What the same call was allowed before this, the call itself first. */
  readonly earlier: readonly ToolAccess[];
  /** Of a command: what it names in the workspace, as {@link ToolPolicy.filesOf} has found it. */
  readonly files: readonly BoundFile[] | undefined;
  readonly outside: readonly string[];
  /** A plan waits for the person's go. */
  readonly isPlanning: boolean;
}

/** A command that the agent knows nothing of. */
export interface Operation {
  readonly name: "skills" | "cron" | "pair";
  readonly argument: string;
}

/** The models that turns can use. */
export interface ModelSource {
  /** @throws {ConfigError} when there is no such model */
  choose(label: string | undefined, signal: AbortSignal): Promise<ChosenModel>;
  /**
   * The model for what a session wants (`thinking` in the words of `/model`) and its stand-ins.
   *
   * @throws {ConfigError} when there is none at all
   */
  chain(
    wanted: { readonly label?: string | undefined; readonly thinking?: string | undefined },
    signal: AbortSignal,
  ): Promise<ModelChain>;
  /** Somebody has just chosen this model. */
  prefer(model: ChosenModel): void;
  /** The models that the config names. */
  labels(): readonly string[];
  /** What `/model … thinking=…` takes, as it is stored; undefined for anything else. */
  readThinking(text: string): string | undefined;
}

/** Where the files are that a session's people were given. */
export interface ArtifactKeeper {
  /** What the file is called for people, and of which kind it is. */
  describe(path: string, filename: string | undefined): { readonly filename: string; readonly mimeType: string };
  /** Resolves once the copy is whole; one that is there already stays. `sentence`: why there is none, for the model. */
  keep(
    sessionKey: string,
    artifactId: string,
    file: { readonly path: string; readonly filename: string },
  ): Promise<{ readonly path: string; readonly sizeBytes: number } | { readonly sentence: string }>;
}

/** Sub-agents, as turns meet them. */
export interface TaskKeeper {
  /** The tasks of the session that the message belongs to, for one call. */
  of(call: TaskCall): ToolTasks;
  /** Cancels all tasks of a session. Resolves with their number once they cannot go on, also not after a crash. */
  stop(sessionKey: string): Promise<number>;
  /** What counts as used by the conversation that this session works for. */
  conversationOf(session: Pick<ResidentSession, "key" | "spending">): Promise<Conversation>;
}

/** A call that may start a task. */
export interface TaskCall {
  readonly message: InboundMessage;
  /** The same when the call runs again after a crash. */
  readonly executionId: string;
  /** Of its turn: a call that goes on after the turn starts nothing any more. */
  readonly signal: AbortSignal;
  /** Where those parts of the context came from that others wrote. */
  readonly outside: () => readonly string[];
  readonly knowsAddress: (url: string) => boolean;
}

/** What the gateway knows about files in which others had a say. `folder`: the session's own. */
export interface FileLabels {
  outsideOf(path: string, folder: string, of?: "content" | "name"): Promise<string | undefined>;
  /** To be waited for before something is written there that others have a say in. */
  write(path: string, folder: string): Promise<FileWriting>;
  /** Whether the file lies where only this session's turns and commands write. */
  isOwn(path: string, folder: string): boolean;
  startRun(sources: readonly string[], folder: string): Promise<ToolRun>;
  hiddenFrom(folder: string): Promise<(path: string) => boolean>;
}

export interface FileWriting {
  /** Whatever the clock of its disk says. */
  include(path: string): Promise<void>;
  end(): Promise<void>;
}

/** What the agent needs from the rest of the gateway. */
export interface AgentPorts {
  readonly sessions: SessionPorts;
  readonly tasks: TaskKeeper;
  readonly models: ModelSource;
  readonly budgets: Budgets;
  readonly context: ContextSources;
  readonly tools: Toolbox;
  readonly policy: ToolPolicy;
  readonly chat: ChatPorts;
  readonly files: FilePorts;
  readonly commands: CommandPorts;
  readonly onModelAnswered?: ((timing: StreamTiming) => void) | undefined;
  readonly log: Logger;
}

export interface SessionPorts {
  /** @throws {EngineError} `corrupt` when the session's log is damaged */
  open(key: string): Promise<ResidentSession>;
  readonly running: RunningTurns;
  /** What answers grow by, which is told where somebody waits for it. */
  readonly pieces: Pick<HeldPieces, "tell">;
  /** Gets each request of a turn to a model, when it is on its way. */
  readonly onSend?: ((sent: SentRequest) => void) | undefined;
  /** Keeps what was said where people can read it, before it goes out of the model's sight. Safe to repeat. */
  keepOlderText(session: Pick<ResidentSession, "key" | "document">, message: InboundMessage): Promise<void>;
  /** Whether a conversation of the gateway's own, that of a scheduled job or a heartbeat, holds this answer, free of what others wrote. */
  wasAnswered(text: string): Promise<boolean>;
}

/** What tool calls may do, for the person whose message it is. */
export interface ToolPolicy {
  /** `outside`: where what others wrote in the context came from. */
  decide(use: PlannedUse): ToolDecision;
  /** For a turn that begins: what becomes stricter meanwhile counts at once, what becomes looser does not. */
  ofTurn(): ToolPolicy;
  /** Of a command that may have to be asked about: the files of the workspace that it names, if they can be known. */
  filesOf(access: ToolAccess, folder: string): Promise<readonly BoundFile[] | undefined>;
  /** Remembers that a person allowed this for always. */
  allowAlways(use: PlannedUse, responderId: string): Promise<void>;
}

/** The people of a message's chat, and what is shown to them. */
export interface ChatPorts {
  isOwner(channel: string, senderId: string): boolean;
  /** Several people may write in the message's chat. */
  isGroup(message: InboundMessage): boolean;
  readonly questions: OpenQuestions;
  /** How long people in this message's chat may take to answer a question. */
  patienceMs(message: InboundMessage): number;
  /** The platform messages that show this in the message's chat; none where people read the events themselves. */
  replies(
    message: InboundMessage,
    replyId: string,
    content: string,
    turnId: string,
    attachments?: readonly Attachment[],
  ): readonly Work<"outbound">[];
  /** The same for a question: its options as buttons where the chat has them, else as numbered lines. */
  questionReplies(
    message: InboundMessage,
    asked: Payload<"human_input_asked">,
    content: string,
    turnId: string,
  ): readonly Work<"outbound">[];
  /** What is in a chat of a reply that is still being written, by the id of its first platform message. */
  readonly previews: {
    /** Shows nothing more of it. `shown` is empty where nobody knows how the words read. */
    freeze(outboundId: string): { readonly shown: string } | undefined;
    forget(outboundId: string): Promise<void>;
  };
}

/** The files of sessions, and where what they hold came from. `folder`: the session's own. */
export interface FilePorts {
  folderOf(sessionKey: string): string;
  /** Why nothing more may be kept for the session with this folder, as the end of a sentence. */
  whyFull(folder: string): Promise<string | undefined>;
  readonly workspace: string;
  /** Keeps copies of files for the people of a session. */
  readonly artifacts: ArtifactKeeper;
  /** Where a file's content came from when others wrote it, by the place where it lies. */
  outsideOf(path: string, folder: string): string | undefined;
  /** Who sent the files that came with a session's messages, as `channel:sender`, where they are the sender's own. */
  sendersIn(folder: string): Promise<(path: string) => string | undefined>;
  readonly labels: FileLabels;
}

/** What chat commands need of the gateway. */
export interface CommandPorts {
  /** Policy on a chat command: one sentence for the person, or undefined where they may. */
  mayCommand(message: InboundMessage, act: CommandAct, isOwn: boolean): string | undefined;
  /** Answers a command about the gateway rather than this conversation. */
  operate(command: Operation, message: InboundMessage): Promise<string>;
  /** One line about the gateway, for /status. */
  statusLine(): Promise<string>;
}

export interface AgentOptions {
  /** Model calls per turn. */
  readonly maxIterations: number;
  /** Attempts at one model call. */
  readonly maxModelAttempts: number;
  /** The pause before the second one. */
  readonly retryDelayMs: number;
  /** Writes a moment for the model. */
  readonly clock: (at: Date) => string;
  readonly persistDetail: boolean;
  readonly persistThoughts: boolean;
  /** Call a conversation by its first words. */
  readonly titles: boolean;
  /** Run for each agent besides the built-in ones. */
  readonly machines?: readonly Machine<unknown>[] | undefined;
  /** When later messages of the same sender are waited for before a turn begins, and for how long after the last one. */
  readonly quiet: QuietTime;
}

import type { z } from "zod";
import type { ToolAccess, ToolTraits } from "../policy/access.js";

export type { ToolAccess, ToolTraits } from "../policy/access.js";

/** What a tool may ask a person. */
export interface ToolQuestion {
  readonly kind: "clarification" | "decision" | "env_var";
  readonly question: string;
  readonly options: readonly {
    readonly label: string;
    readonly description?: string | undefined;
    readonly recommended?: boolean | undefined;
  }[];
  /** The person may answer in their own words. */
  readonly allowCustom: boolean;
  /** Taken when nobody answers; else the recommended or the first option is. */
  readonly default?: string | undefined;
  /** Names of the secrets that are asked for; with `env_var` only. Their values never reach the tool. */
  readonly names?: readonly string[] | undefined;
  /**
   * Somebody outside wants to know it in the middle of a call: nobody is asked in a job, and a call that is cut meanwhile
   * has perhaps done something already.
   */
  readonly isMidCall?: boolean | undefined;
}

export interface ToolAnswer {
  /** `nobody`: there is no person behind this turn. */
  readonly outcome: "answered" | "timeout" | "nobody";
  readonly text: string;
}

/** A file that goes out. `path` is absolute and resolved. */
export interface ToolAttachment {
  readonly path: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
}

/** Another chat than that of the turn. */
export interface ToolChat {
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string | undefined;
}

/** A file as people get it. */
export type ToolArtifact =
  /** `isShown`: false where the chat takes no such file, and is only told its name. */
  | { readonly ok: true; readonly artifactId: string; readonly file: ToolAttachment; readonly isShown: boolean }
  /** `sentence` is for the model. */
  | { readonly ok: false; readonly sentence: string };

/** A task that a sub-agent works on, or has worked on. */
export interface ToolTask {
  readonly id: string;
  readonly label: string;
  readonly state: "pending" | "running" | "completed" | "failed";
  /** What it has brought back, once it is completed; why it failed, once it has. */
  readonly result?: string | undefined;
  /** Where the result came from when others had a hand in it. */
  readonly outside?: string | undefined;
}

/** The sub-agents of one session. What cannot be done is a `RequestError` with a sentence for the model. */
export interface ToolTasks {
  /** Resolves once the task is durable; a call that runs again after a crash starts nothing twice. */
  start(wish: {
    readonly task: string;
    readonly label?: string | undefined;
    readonly model?: string | undefined;
    readonly skills?: readonly string[] | undefined;
  }): Promise<ToolTask>;
  /** Those at work and the last ones that have ended, newest first. */
  list(): readonly ToolTask[];
  get(id: string): Promise<ToolTask>;
  cancel(id: string): Promise<ToolTask>;
}

/** One change of a reflection: `step` and `text` reword a step, `step` alone skips it, `text` alone adds one at the end. */
export interface PlanAdjustment {
  readonly step?: string | undefined;
  readonly text?: string | undefined;
}

/** What a model may do with the session's plan. */
export interface PlanRequest {
  readonly action:
    | "create"
    | "revise"
    | "start"
    | "complete"
    | "skip"
    | "reflect"
    | "snapshot"
    | "rollback"
    | "pause"
    | "continue"
    | "fail";
  readonly goal?: string | undefined;
  readonly steps?: readonly string[] | undefined;
  /** A step's id or number; without it the one that is under way, else the next one. */
  readonly step?: string | undefined;
  /** A result, a reason, or what a reflection found. */
  readonly text?: string | undefined;
  readonly adjust?: readonly PlanAdjustment[] | undefined;
}

/** A command that runs, and what others have a say in it by. */
export interface ToolRun {
  /** Up to now; undefined when nobody has. */
  outside(): string | undefined;
  /** From now on these have a say in it, too. */
  add(sources: readonly string[]): Promise<void>;
  /** To be called when nothing of it runs any more. */
  end(): Promise<void>;
}

/** Which call of which turn it is. */
export interface ToolCallIds {
  readonly turnId: string;
  readonly toolCallId: string;
  /** A sub-agent's turn: nobody in the chat sees what it says. */
  readonly isSubAgent: boolean;
}

/** What policy says about the call, besides {@link ToolContext.permit}. */
export interface ToolPermissions {
  /** Whether policy allows this without asking anybody. */
  readonly allows: (access: ToolAccess) => boolean;
  /**
   * Whether `permit` has allowed this in the same call because of a rule, or because a person once said "always": then
   * nobody looks at it now, and what earlier commands have left behind must have no say in it.
   */
  readonly allowedByRule: (access: ToolAccess) => boolean;
  /** Whether `permit` has allowed this in the same call because a person said yes to it now. */
  readonly allowedByPerson: (access: ToolAccess) => boolean;
}

/** The chat of the turn, who wrote there, and what reaches it ahead of the answer. */
export interface ToolCallChat extends ToolChat {
  readonly senderId: string;
  /**
   * Shows a text and files at once, ahead of the answer: in the turn's chat, or in another one. Resolves with the number
   * of messages once they are durable: 0 where people read the session's events themselves, and find the text there. A
   * call that runs again after a crash shows nothing twice, if it sends the same in the same order.
   */
  readonly send: (message: {
    readonly content: string;
    readonly attachments: readonly ToolAttachment[];
    readonly to?: ToolChat | undefined;
  }) => Promise<number>;
  /**
   * Hands a file to the people of the turn's chat: a copy is kept with the session, told by `artifact_state_changed`, and
   * sent where people do not read the session's events themselves. To be called only for what policy lets the call read.
   * As with `send`, nothing is handed over twice.
   */
  readonly artifact: (file: {
    /** Absolute and resolved. */
    readonly path: string;
    /** Another name than the file's own. */
    readonly filename?: string | undefined;
    /** Is shown with it. */
    readonly content?: string | undefined;
  }) => Promise<ToolArtifact>;
}

/** The files that the call may meet. Paths are absolute and resolved. */
export interface ToolFiles {
  /** The workspace: readable. */
  readonly workspace: string;
  /** Why no more files may be kept for this session, as the end of a sentence; undefined while there is room. */
  readonly whyFull: () => Promise<string | undefined>;
  /** Where a file's content came from when others wrote it. */
  readonly outsideOf: (path: string, of?: "content" | "name") => Promise<string | undefined>;
  /**
   * To be called with each file that a tool has written, before the call ends: what the context holds of others may be in
   * it now.
   */
  readonly wrote: (path: string) => Promise<void>;
  /** Says which files that came with messages belong to the person the turn is for. */
  readonly ownUploads: () => Promise<(path: string) => boolean>;
}

/** For tools that run commands. */
export interface ToolCommands {
  /** Where the session's first command begins, if who made the session named a place. */
  readonly cwd?: string | undefined;
  /** Says which files commands must not see, by absolute path; also those that others get a say in while one runs. */
  readonly hiddenFiles: () => Promise<(path: string) => boolean>;
  /**
   * To be called, and waited for, before a command starts that can write in the session's folder. `sees`: what others
   * have a say in it by, beside the conversation and the files of the folder.
   */
  readonly startRun: (sees: readonly string[]) => Promise<ToolRun>;
}

/** What the conversation holds of people and of others. */
export interface ToolConversation {
  /** Where those parts of the context came from that others wrote, at this moment. */
  readonly outside: () => readonly string[];
  /** Whether files came with messages of this conversation. */
  readonly receivedHere: () => boolean;
  /** Whether this web address, as a whole, came from people or from outside: then the model did not make it up. */
  readonly knowsAddress: (url: string) => boolean;
}

/** What the agent can do beside its tools. */
export interface ToolAgent {
  readonly tasks: ToolTasks;
  /** The text of a skill by name, or undefined. */
  readonly readSkill: (name: string) => Promise<string | undefined>;
  /** Changes the session's plan. The change is stored together with the call's result, or not at all. */
  readonly changePlan: (request: PlanRequest) => ToolResult;
}

/** Where and for whom a tool call runs. A tool never takes its chat from the model. */
export interface ToolContext {
  readonly sessionKey: string;
  /** The session's own folder, or that of the chat that a sub-agent works for: relative paths start here. May not exist yet. */
  readonly folder: string;
  /** Aborts when the turn is stopped: a tool that has started processes then ends their whole group. */
  readonly signal: AbortSignal;
  /**
   * Asks policy, and a person where policy says so: `undefined` when allowed, else one sentence for the model that says
   * why not. A tool asks for all that it is about to do before it does the first thing, because a call whose question
   * is open is begun again after a crash; and its own time limits begin afterwards, for a person may take hours.
   */
  readonly permit: (access: ToolAccess) => Promise<string | undefined>;
  /** Asks a person and waits. `withdrawn`: nobody wants the answer any more; the call then goes on with its reason thrown. */
  readonly ask: (question: ToolQuestion, withdrawn?: AbortSignal) => Promise<ToolAnswer>;
  readonly call: ToolCallIds;
  /** Beside `permit`: what is allowed without a question, and by whom it was. */
  readonly permissions: ToolPermissions;
  /** Where the turn's message came from, and what is shown there. */
  readonly chat: ToolCallChat;
  /** What a tool that reads or writes files looks up and reports. */
  readonly files: ToolFiles;
  /** The same for one that runs commands. */
  readonly commands: ToolCommands;
  /** What came from outside into the model's sight. */
  readonly conversation: ToolConversation;
  /** Sub-agents, skills and the plan. */
  readonly agent: ToolAgent;
}

/** Failure is data: the model reads the text and goes on. */
export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
  /** One line for people, e.g. `read notes.txt (12 lines)`. */
  readonly summary: string;
  /** Where the text came from when others wrote it: a page, a mail, a file that was sent. The model gets it fenced. */
  readonly outside?: string | undefined;
  /**
   * Where in the text web addresses are that came from outside: anywhere, or as the targets of links in a page's
   * snapshot, read from the page that `outside` names.
   */
  readonly addresses?: "text" | "links" | undefined;
  /** The web address that was opened with permission: to open it again tells nobody anything new. */
  readonly visited?: string | undefined;
  /** What the call looked at goes on, and there is nothing new about it: to look again is waiting, not turning in circles. */
  readonly isWaiting?: boolean | undefined;
  /** The call waited for something that comes by itself: to call it again for the same is waiting as well. */
  readonly isPoll?: boolean | undefined;
  /** Pictures that the model gets to see with the text, if it can see. */
  readonly images?: readonly ToolImage[] | undefined;
}

/** A picture in a file: JPEG, PNG, GIF or WebP. */
export interface ToolImage {
  /** Absolute. */
  readonly path: string;
  readonly mimeType: string;
  readonly filename: string;
}

/** Something the model may do. */
export interface Tool<S extends z.ZodType = z.ZodType> extends ToolTraits {
  /** `[a-z0-9_]{1,64}`. */
  readonly name: string;
  /** For the model: what it does, in as few words as possible. */
  readonly description: string;
  readonly input: S;
  /** What the model is shown in place of `input`, where that was made from a JSON schema. */
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** For a tool that runs others: the call which such a call means. Policy decides on that one. */
  readonly means?: ((input: unknown) => { readonly name: string; readonly input: unknown } | undefined) | undefined;
  /** After a crash in mid-call: `read` and `idempotent` run again, `write` is reported as interrupted. */
  readonly effect: "read" | "idempotent" | "write";
  readonly origin: "builtin" | "mcp";

  /**
   * Runs one call with checked input. Expected failures are results with `isError`; what it throws is a bug of the
   * tool and is shown to the model as a plain sentence.
   */
  run(input: z.infer<S>, context: ToolContext): Promise<ToolResult>;
}

/** Keeps the input type of one tool while it is defined. */
export function defineTool<S extends z.ZodType>(tool: Tool<S>): Tool<S> {
  return tool;
}

/** Its first line is what people see of it. */
export function done(text: string): ToolResult {
  const [summary = ""] = text.split("\n");
  return { text, isError: false, summary: summary.slice(0, 100) };
}

export function failed(text: string, summary = text): ToolResult {
  return { text, isError: true, summary };
}

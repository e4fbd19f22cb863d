import type { z } from "zod";

/** What is asked of policy before a call runs. Paths are absolute and resolved. */
export type ToolAccess =
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly path: string }
  /** The memory files and all conversations. */
  | { readonly kind: "memory"; readonly access: "read" | "write" }
  /** The scheduled jobs of this chat. */
  | { readonly kind: "schedule"; readonly detail: string }
  | { readonly kind: "other"; readonly detail: string };

/** Where and for whom a tool call runs. A tool never takes its chat from the model. */
export interface ToolContext {
  readonly sessionKey: string;
  readonly channel: string;
  readonly chatId: string;
  readonly senderId: string;
  readonly turnId: string;
  readonly toolCallId: string;
  /** The session's own folder: relative paths start here. May not exist yet. */
  readonly folder: string;
  /** The workspace: readable. */
  readonly workspace: string;
  readonly signal: AbortSignal;
  /** Throws nothing: `undefined` when allowed, else one sentence for the model that says why not. */
  readonly permit: (access: ToolAccess) => Promise<string | undefined>;
  /** The text of a skill by name, or undefined. */
  readonly readSkill: (name: string) => Promise<string | undefined>;
}

/** Failure is data: the model reads the text and goes on. */
export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
  /** One line for people, e.g. `read notes.txt (12 lines)`. */
  readonly summary: string;
}

/** Something the model may do. */
export interface Tool<S extends z.ZodType = z.ZodType> {
  /** `[a-z0-9_]{1,64}`. */
  readonly name: string;
  /** For the model: what it does, in as few words as possible. */
  readonly description: string;
  readonly input: S;
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

export function failed(text: string, summary = text): ToolResult {
  return { text, isError: true, summary };
}

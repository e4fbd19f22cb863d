import { z } from "zod";
import { messageOf } from "../errors.js";
import { type Logger, silentLog } from "../log.js";
import { within } from "../util/async/within.js";
import { cutText } from "../util/text/cut-text.js";
import { fenceUntrusted } from "../util/text/untrusted.js";
import { nearest } from "./nearest.js";
import { cutResult } from "./overflow.js";
import { inputProblem, toInputSchema, unknownFields } from "./schema.js";
import { failed, type Tool, type ToolContext, type ToolResult } from "./tool.js";

/** A tool as the model sees it. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export type InputCheck =
  | { readonly ok: true; readonly input: unknown }
  /** `text` tells the model what to do better. */
  | { readonly ok: false; readonly text: string };

/** Tools that come and go while the gateway runs. */
export interface ToolSource {
  /** Those that the model is shown; the same array until something changes. */
  declared(): readonly Tool[];
  /** Any of them, shown or not. */
  find(name: string): Tool | undefined;
  /** Waits for those that are only just being connected to, a little: whose are still missing, by name. */
  settle(signal: AbortSignal): Promise<readonly string[]>;
}

/** The tools of a turn. */
export interface ToolRegistry {
  /** Sorted by name, the same objects until something changes, so that their bytes stay equal from request to request. */
  declarations(): readonly ToolDeclaration[];
  /** The tool of that name; with an input, the one that such a call means. */
  find(name: string, input?: unknown): Tool | undefined;
  settle(signal: AbortSignal): Promise<readonly string[]>;
  check(name: string, input: unknown): InputCheck;
  /**
   * Checks the input, asks policy about the call, and runs it: tools run nowhere else. A failure of any kind, a bug of the tool included, is a result with `isError`.
   * Results over 16,000 characters are cut, and the whole text is kept in a file of the session's folder. What others
   * wrote is fenced.
   *
   * @throws the signal's reason, at once when `context.signal` aborts, whether or not the tool listens to it
   */
  run(name: string, input: unknown, context: ToolContext): Promise<ToolResult>;
}

/** Of two tools with one name the first is kept; a tool that no provider would accept is left out. Both are logged. */
export function createToolRegistry(
  tools: readonly Tool[],
  options: {
    readonly log?: Logger;
    readonly source?: ToolSource | undefined;
    /** Go before `tools`; another list once they are others. */
    readonly changing?: (() => readonly Tool[]) | undefined;
  } = {},
): ToolRegistry {
  const log = options.log ?? silentLog;
  const { source, changing = () => none } = options;
  const shown = showing(tools, { changing, source }, log);

  const entryOf = (name: string): Entry | undefined => {
    const entry = shown().entries.get(name);
    const other = entry === undefined ? source?.find(name) : undefined;
    return other === undefined ? entry : { tool: other, declaration: declare(other) };
  };
  /** What a call means: itself, unless it is of a tool that runs others. Those never run each other. */
  const meant = (name: string, input: unknown): { readonly name: string; readonly input: unknown } => {
    const inner = entryOf(name)?.tool.means?.(input);
    return inner === undefined || entryOf(inner.name)?.tool.means !== undefined ? { name, input } : inner;
  };

  const unknown = (name: string): string => {
    const names = [...shown().entries.keys()];
    const like = nearest(name, names);
    const hint = like === undefined ? "" : ` Did you mean ${like}?`;
    return `There is no tool "${cutText(name, 80)}".${hint} Tools: ${names.join(", ") || "none"}.`;
  };

  const check = (name: string, input: unknown): InputCheck => {
    const entry = entryOf(name);
    if (entry === undefined) return { ok: false, text: unknown(name) };
    const given = input ?? {};
    const parsed = entry.tool.input.safeParse(given);
    // A field that is passed over may have been the one that mattered.
    const strange = unknownFields(entry.tool.input, given);
    if (parsed.success && strange.length === 0) return { ok: true, input: parsed.data };
    return { ok: false, text: inputProblem(name, parsed.error, { fields: fieldsOf(entry.declaration), strange }) };
  };

  const run = async (called: string, given: unknown, context: ToolContext): Promise<ToolResult> => {
    context.signal.throwIfAborted();
    const { name, input } = meant(called, given);
    const entry = entryOf(name);
    const checked = check(name, input);
    if (entry === undefined || !checked.ok)
      return failed(checked.ok ? unknown(name) : checked.text, `${name}: wrong call`);
    try {
      const refusal = await within(context.permit({ kind: "call", input: checked.input }), context);
      if (refusal !== undefined) return failed(refusal, `${name} was not allowed`);
      const result = wholeResult(await within(entry.tool.run(checked.input, context), context));
      const cut = await cutResult(name, result, context, log);
      return cut.outside === undefined ? cut : { ...cut, text: fenceUntrusted(cut.outside, cut.text) };
    } catch (error) {
      context.signal.throwIfAborted();
      log.error("a tool failed unexpectedly", {
        tool: name,
        sessionKey: context.sessionKey,
        turnId: context.call.turnId,
        error,
      });
      return failed(`${name} failed unexpectedly: ${cutText(messageOf(error), 300)}`, `${name} failed`);
    }
  };

  return {
    declarations: () => shown().declarations,
    find: (name, input) => entryOf(input === undefined ? name : meant(name, input).name)?.tool,
    settle: async (signal) => (await source?.settle(signal)) ?? [],
    check,
    run,
  };
}

const toolResult = z.object({
  text: z.string(),
  isError: z.boolean().default(false),
  summary: z.string().default(""),
  outside: z.string().optional(),
  addresses: z.enum(["text", "links"]).optional(),
  visited: z.string().optional(),
  isWaiting: z.boolean().optional(),
  isPoll: z.boolean().optional(),
  images: z.array(z.object({ path: z.string(), mimeType: z.string(), filename: z.string() })).optional(),
});

/** A tool may be anybody's, and what it gives is in the session's log for good and goes to the model again and again. */
function wholeResult(result: unknown): ToolResult {
  const { data } = toolResult.safeParse(result);
  if (data === undefined) throw new Error("its result is not of the form { text, isError, summary }");
  return data;
}

interface Shown {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly declarations: readonly ToolDeclaration[];
}

/** Everything that the model is shown; put together again only when what comes and goes has changed. */
function showing(
  tools: readonly Tool[],
  { changing, source }: { readonly changing: () => readonly Tool[]; readonly source: ToolSource | undefined },
  log: Logger,
): () => Shown {
  const collected = (first: readonly Tool[], more: readonly Tool[]): Shown => {
    const entries = collect([...first, ...tools, ...more], log);
    return { entries, declarations: [...entries.values()].map((entry) => entry.declaration) };
  };
  let known = { first: changing(), more: none, shown: collected(changing(), none) };
  return () => {
    const [first, more] = [changing(), source?.declared() ?? none];
    if (known.first !== first || known.more !== more) known = { first, more, shown: collected(first, more) };
    return known.shown;
  };
}

const none: readonly Tool[] = [];

interface Entry {
  readonly tool: Tool;
  readonly declaration: ToolDeclaration;
}

function collect(tools: readonly Tool[], log: Logger): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const tool of [...tools].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))) {
    const inputSchema = tool.inputSchema ?? toInputSchema(tool.input);
    if (!/^[a-z0-9_]{1,64}$/.test(tool.name) || inputSchema === undefined) {
      log.error("a tool was left out: its name or its input is of a kind that providers refuse", { tool: tool.name });
    } else if (entries.has(tool.name)) {
      log.error("a tool was left out: another has the same name", { tool: tool.name, origin: tool.origin });
    } else {
      entries.set(tool.name, { tool, declaration: declare(tool, inputSchema) });
    }
  }
  return entries;
}

function declare(tool: Tool, inputSchema = tool.inputSchema ?? toInputSchema(tool.input) ?? {}): ToolDeclaration {
  return Object.freeze({ name: tool.name, description: tool.description, inputSchema });
}

function fieldsOf(declaration: ToolDeclaration): readonly string[] {
  return Object.keys(z.record(z.string(), z.unknown()).safeParse(declaration.inputSchema.properties).data ?? {});
}

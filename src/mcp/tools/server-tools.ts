import {
  type Client,
  ProtocolError,
  type ReadResourceResult,
  SdkError,
  type Tool as ToolInfo,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { defineTool, failed, type Tool, type ToolContext, type ToolResult } from "../../tools/tool.js";
import { cutText } from "../../util/text/cut-text.js";
import { createAsker } from "../asking/ask.js";
import { MoreLoginNeeded } from "../auth/oauth.js";
import { CallTimeout } from "../connection/call-time.js";
import { causeOf, clauseOf } from "../connection/explain.js";
import type { Caller, CallOptions, McpSession } from "../connection/session.js";
import { type McpServer, NotConnected } from "../server.js";
import { inputOf } from "./check-input.js";
import { toolNames } from "./names.js";
import { type ServerContent, toResult } from "./result.js";

/** A description is the server's own words in every request: no more of them than a model needs. */
const maxDescription = 400;
const maxListed = 100;

/** All that the servers offer, as tools; of servers that are away, what they offered last. Sorted by name. */
export function toolsOf(servers: readonly McpServer[], log: Logger): readonly Tool[] {
  const offered = servers.flatMap((server) => offersOf(server));
  const names = toolNames(offered.map(({ server, tool }) => ({ server: server.settings.name, tool })));
  return offered.map(({ make }, index) => make(names[index] ?? "", log)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface Offered {
  readonly server: McpServer;
  readonly tool: string;
  readonly make: (name: string, log: Logger) => Tool;
}

function offersOf(server: McpServer): readonly Offered[] {
  const { tools = [], hasResources, hasPrompts } = server.catalog ?? {};
  const isOff = (tool: string): boolean => server.settings.disabledTools?.includes(tool) === true;
  const offered: Offered[] = tools.map((info) => ({
    server,
    tool: info.name,
    make: (name, log) => calledTool(server, info, name, log),
  }));
  const has = (tool: string): boolean => tools.some(({ name }) => name === tool);
  if (hasResources && !has("read_resource"))
    offered.push({ server, tool: "read_resource", make: (name) => resourceTool(server, name) });
  if (hasPrompts && !has("get_prompt"))
    offered.push({ server, tool: "get_prompt", make: (name) => promptTool(server, name) });
  return offered.filter(({ tool }) => !isOff(tool));
}

/** What a server claims about its tools only counts where the config says that it is trusted. */
function effectOf({ settings }: McpServer, claims: { readonly reads?: boolean; readonly repeats?: boolean }) {
  if (!settings.trusted) return "write" as const;
  return claims.reads === true ? ("read" as const) : claims.repeats === true ? ("idempotent" as const) : "write";
}

function calledTool(server: McpServer, info: ToolInfo, name: string, log: Logger): Tool {
  const { description = info.title ?? "", inputSchema, annotations } = info;
  return defineTool({
    name,
    description: cutText(description.replace(/\s+/g, " ").trim(), maxDescription),
    input: inputOf(inputSchema, () =>
      log.warn(`The input schema of ${name} is not valid: only its server checks the input`),
    ),
    inputSchema: shown(inputSchema),
    effect: effectOf(server, { reads: annotations?.readOnlyHint, repeats: annotations?.idempotentHint }),
    risk: "call",
    origin: "mcp",
    run: (input, context) =>
      answerOf(server, name, context, async (session, caller) => {
        const result = await session.callTool(info, input, caller);
        return { content: result.content, structured: result.structuredContent, isError: result.isError === true };
      }),
  });
}

/** Providers refuse a whole request for one of these at the top of one tool's schema. The input is checked for them all the same. */
const refused: ReadonlySet<string> = new Set(["$schema", "anyOf", "oneOf", "allOf", "not", "enum"]);

/** Without what costs tokens or requests. */
function shown(schema: ToolInfo["inputSchema"]): Readonly<Record<string, unknown>> {
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !refused.has(key)));
  return { ...rest, type: "object", properties: schema.properties ?? {} };
}

function resourceTool(server: McpServer, name: string): Tool {
  return defineTool({
    name,
    description: `Read a resource of ${server.settings.name}; without uri: list them.`,
    input: z.object({ uri: z.string().optional() }),
    effect: effectOf(server, { reads: true }),
    risk: "call",
    origin: "mcp",
    run: ({ uri }, context) =>
      askedOf(server, name, context, async (client, options) => {
        if (uri === undefined) {
          const { resources } = await client.listResources(undefined, options);
          const templates = await client.listResourceTemplates(undefined, options).catch(() => undefined);
          return listed([
            ...resources.map((one) => line(one.uri, one.name, one.description)),
            ...(templates?.resourceTemplates ?? []).map((one) => line(one.uriTemplate, one.name, one.description)),
          ]);
        }
        const { contents } = await client.readResource({ uri }, options);
        return { content: contents.map(asContent), isError: false };
      }),
  });
}

function promptTool(server: McpServer, name: string): Tool {
  return defineTool({
    name,
    description: `Get a prompt of ${server.settings.name}; without name: list them.`,
    input: z.object({ name: z.string().optional(), arguments: z.record(z.string(), z.string()).optional() }),
    effect: effectOf(server, { reads: true }),
    risk: "call",
    origin: "mcp",
    run: ({ name: prompt, arguments: given = {} }, context) =>
      askedOf(server, name, context, async (client, options) => {
        if (prompt === undefined) {
          const { prompts } = await client.listPrompts(undefined, options);
          return listed(
            prompts.map((one) => {
              const fields = (one.arguments ?? []).map((field) => (field.required ? field.name : `${field.name}?`));
              return line(`${one.name}(${fields.join(", ")})`, one.title ?? "", one.description);
            }),
          );
        }
        const { messages } = await client.getPrompt({ name: prompt, arguments: given }, options);
        return {
          content: messages.flatMap(({ role, content }) => [{ type: "text" as const, text: `${role}:` }, content]),
          isError: false,
        };
      }),
  });
}

function line(name: string, title: string, description: string | undefined): string {
  return cutText([name, title, description].filter(Boolean).join(" · ").replace(/\s+/g, " "), 200);
}

function listed(lines: readonly string[]): Outcome {
  const more = lines.length > maxListed ? [`… and ${lines.length - maxListed} more`] : [];
  const text = lines.length === 0 ? "There are none." : [...lines.slice(0, maxListed), ...more].join("\n");
  return { content: [{ type: "text", text }], isError: false };
}

function asContent(resource: ReadResourceResult["contents"][number]): ServerContent {
  return { type: "resource", resource };
}

interface Outcome {
  readonly content: readonly ServerContent[];
  readonly structured?: unknown;
  readonly isError: boolean;
}

function declined(why: string): string {
  return `[The server wanted to ask a person something in this call. That was declined: ${why}.]`;
}

/** The same for a request that the client knows how to make. */
function askedOf(
  server: McpServer,
  tool: string,
  context: ToolContext,
  work: (client: Client, options: CallOptions) => Promise<Outcome>,
): Promise<ToolResult> {
  return answerOf(server, tool, context, (session, caller) =>
    session.call((options) => work(session.client, options), caller),
  );
}

/** Runs one request; whatever goes wrong is a sentence for the model. */
async function answerOf(
  server: McpServer,
  tool: string,
  context: ToolContext,
  work: (session: McpSession, caller: Caller) => Promise<Outcome>,
): Promise<ToolResult> {
  const { name } = server.settings;
  const notes = new Set<string>();
  const onDeclined = (why: string): void => void notes.add(declined(why));
  const asker = createAsker({ server: name, tool, ask: context.ask, onDeclined });
  const caller = { signal: context.signal, onDeclined, asker };
  const result = await runFor(server, tool, context, (session) => work(session, caller));
  return notes.size === 0 ? result : { ...result, text: [...notes, result.text].join("\n\n") };
}

async function runFor(
  server: McpServer,
  tool: string,
  context: ToolContext,
  work: (session: McpSession) => Promise<Outcome>,
): Promise<ToolResult> {
  const { name, callMs } = server.settings;
  let used: McpSession | undefined;
  try {
    const outcome = await server.use((session) => {
      used = session;
      return work(session);
    }, context.signal);
    return await toResult({ server: name, tool, ...outcome }, context);
  } catch (error) {
    context.signal.throwIfAborted();
    // Why it is away may be told in its own words.
    const outside = `the MCP server ${name}`;
    if (error instanceof NotConnected) {
      const text = `The MCP server ${name} is not connected: ${error.message}.`;
      return { ...failed(text, `${tool}: ${name} is not connected`), outside };
    }
    if (error instanceof MoreLoginNeeded) {
      const text = `${tool} was not run: ${server.wants ?? server.said(error)}. Only a person can do that, where the gateway runs.`;
      return { ...failed(text, `${tool}: ${name} needs a login`), outside };
    }
    if (used?.isClosed === true && error instanceof SdkError) {
      const why = server.leaving ?? server.said((await used.closed) ?? "it closed the connection");
      const text = `The MCP server ${name} was lost in the middle of the call: ${why}. Whether it did anything is unknown.`;
      return { ...failed(text, `${tool}: ${name} was lost`), outside };
    }
    if (error instanceof CallTimeout) {
      if (used !== undefined) void server.suspect(used);
      const text = `The MCP server ${name} did not answer within ${callMs / 1000} s; whether it did anything is unknown.`;
      return failed(text, `${tool} took too long`);
    }
    // The server's own answer shows that it is there; anything else may mean that it knows nobody any more.
    if (used !== undefined && !(error instanceof ProtocolError)) void server.suspect(used);
    const said = error instanceof ProtocolError ? cutText(messageOf(error), 1000) : (causeOf(error) ?? clauseOf(error));
    // The client's own words for it are a page long.
    const isOdd = said.startsWith("Invalid elicitation request");
    const text = isOdd
      ? "it wanted to ask a person something in a form that the protocol does not know"
      : server.said(said);
    return { ...failed(`${tool} failed: ${text}`, `${tool} failed`), outside };
  }
}

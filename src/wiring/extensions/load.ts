import { homedir } from "node:os";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { messageOf } from "../../errors.js";
import type { Reactor } from "../../reactors/reactor.js";
import { toInputSchema } from "../../tools/schema.js";
import type { Tool } from "../../tools/tool.js";
import type { Releases } from "../../util/async/releases.js";
import { within } from "../../util/async/within.js";
import { statusSentence } from "../../util/words/status-sentences.js";
import type { Additions, GatewayOptions } from "../options.js";
import { channelsOf } from "./channels.js";
import type { Extension, ExtensionContext, ExtensionFactory } from "./extension.js";
import { findTrustedFile } from "./file.js";
import { extensionTools } from "./tools.js";

const loadMs = 10_000;
/** For what it closes at the end. */
const stopMs = 5000;

const isFunction = (value: unknown): boolean => typeof value === "function";
const hasAll = (...names: readonly string[]): ((value: unknown) => boolean) => {
  return (value) =>
    typeof value === "object" && value !== null && names.every((name) => isFunction(Reflect.get(value, name)));
};
const named = (what: string, check: (value: unknown) => boolean) =>
  z.custom<object>(
    (value) =>
      check(value) && typeof value === "object" && value !== null && typeof Reflect.get(value, "name") === "string",
    what,
  );

const risks: ReadonlySet<unknown> = new Set<Tool["risk"]>(["none", "access", "call"]);
const effects: ReadonlySet<unknown> = new Set<Tool["effect"]>(["read", "idempotent", "write"]);

/** What any provider takes as a tool, and policy understands. */
function isTool(value: unknown): boolean {
  if (!hasAll("run")(value)) return false;
  // Looked at part by part.
  const { name, description, input, risk = "call", effect = "write" } = value as Partial<Record<keyof Tool, unknown>>;
  if (!/^[a-z0-9_]{1,64}$/.test(String(name)) || typeof description !== "string") return false;
  if (!risks.has(risk) || !effects.has(effect)) return false;
  try {
    // Throws for schemas of another library, or of another version of it.
    return toInputSchema(input as z.ZodType) !== undefined;
  } catch {
    return false;
  }
}

const shape = z.strictObject({
  tools: z
    .array(
      named("a tool with name (a-z, 0-9, _), description, input (z.object), run, and a known risk and effect", isTool),
    )
    .optional(),
  channels: z.custom(isFunction, "a function that gives channels").optional(),
  providers: z.array(named("a provider with name and stream", hasAll("stream"))).optional(),
  storage: named("a storage driver", hasAll("get", "getMany", "set", "delete", "keys", "change")).optional(),
  machines: z.array(named("a machine with name and step", hasAll("step"))).optional(),
  reactors: z.array(named("a reactor with name, start and stop", hasAll("start", "stop"))).optional(),
  dispose: z.custom(isFunction, "a function").optional(),
});

/**
 * The options with what the config's extensions add. One that cannot be used is left out as a whole and told among the
 * problems: it never keeps the gateway from starting.
 */
export async function loadExtensions(options: GatewayOptions, releases: Releases): Promise<GatewayOptions> {
  const problems: string[] = [];
  const leaveOut = (module: string, why: string): void => {
    problems.push(statusSentence("extension_out", { module, reason: why }));
    options.log.warn(statusSentence("extension_out", { module, reason: why }));
  };
  let all: GatewayOptions = { ...options, added: { ...options.added, problems } };
  for (const { module, options: own } of options.config.config.extensions) {
    try {
      const extension = await load(module, own, options);
      const { dispose } = extension;
      if (dispose !== undefined)
        releases.defer(async () => {
          const disposed = (async () => await dispose())();
          const late = (): Error => new Error(`it was not done after ${stopMs / 1000} s`);
          await within(disposed, { ms: stopMs, late }).catch((error: unknown) => {
            options.log.warn(`The extension ${module} did not stop well: ${messageOf(error)}`);
          });
        }, `extension ${module}`);
      all = joined(all, extension, (why) => leaveOut(module, why));
      options.log.info(`Loaded the extension ${module}`);
    } catch (error) {
      leaveOut(module, whyOf(error));
    }
  }
  return all;
}

async function load(
  module: string,
  own: Readonly<Record<string, unknown>>,
  options: GatewayOptions,
): Promise<Extension> {
  const { home, log } = options;
  const { workspace } = options.config.config.agents.defaults;
  const path = resolve(home, module.replace(/^~(?=[/\\]|$)/, homedir()));
  const real = await findTrustedFile(path, workspace);
  const loaded: unknown = await within(import(pathToFileURL(real).href), { ms: loadMs, late: notReady });
  const made: unknown = typeof loaded === "object" && loaded !== null ? Reflect.get(loaded, "default") : undefined;
  if (made === undefined) throw new Error("it has no default export");
  // What it really gives is looked at below.
  const factory = made as ExtensionFactory;
  const context: ExtensionContext = { options: own, home, workspace, ...extensionTools, log };
  const limit = { ms: loadMs, late: notReady };
  const given: unknown = isFunction(made) ? await within((async () => await factory(context))(), limit) : made;
  const parsed = shape.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(
      `${issue?.path.join(".") || "its default export"} is wrong: expected ${issue?.message ?? "an object"}`,
    );
  }
  // The shape has just been checked, as far as functions can be.
  return given as Extension;
}

/** An extension checks its options with zod, whose own message is a page of JSON. */
function whyOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return messageOf(error);
  return error.issues.map(({ path, message }) => [...path.map(String), message].join(": ")).join("; ");
}

function notReady(): Error {
  return new Error(`it was not ready after ${loadMs / 1000} s`);
}

function joined(options: GatewayOptions, extension: Extension, onProblem: (why: string) => void): GatewayOptions {
  const { tools = [], channels, providers = [], storage, machines = [], reactors = [] } = extension;
  const { added = {} } = options;
  if (storage !== undefined && added.storage !== undefined) throw new Error("there is another storage already");
  const { platforms } = added;
  const { channels: configured } = options.config.config;
  const builtIn = Object.entries(configured).flatMap(([name, channel]) => (channel?.enabled ? [name] : []));
  const joint: Additions = {
    ...added,
    tools: [
      ...(added.tools ?? []),
      ...tools.map((tool) => ({
        ...tool,
        effect: tool.effect ?? "write",
        risk: tool.risk ?? "call",
        origin: tool.origin ?? "builtin",
      })),
    ],
    providers: [...(added.providers ?? []), ...providers],
    machines: [...(added.machines ?? []), ...machines],
    reactors: [...(added.reactors ?? []), ...reactors.map((reactor) => guarded(reactor, onProblem))],
    ...(storage === undefined ? {} : { storage }),
    ...(channels === undefined
      ? {}
      : {
          platforms: (context) => {
            const known = platforms?.(context) ?? [];
            const taken = [...builtIn, ...known.map(({ name }) => name)];
            return [...known, ...channelsOf(channels, context, taken, onProblem)];
          },
        }),
  };
  return { ...options, added: joint };
}

/** A reactor only decorates: what it throws is its own. */
function guarded(reactor: Reactor, onProblem: (why: string) => void): Reactor {
  const attempt = (action: () => unknown): void => {
    // A promise is not expected and not waited for, but what it rejects with is the reactor's own as well.
    const done = (async () => await action())();
    void done.catch((error: unknown) => onProblem(`the reactor ${reactor.name} failed: ${messageOf(error)}`));
  };
  return {
    name: reactor.name,
    start: (bus) => attempt(() => reactor.start(bus)),
    stop: () => attempt(() => reactor.stop()),
  };
}

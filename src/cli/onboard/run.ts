import { z } from "zod";
import type { Config } from "../../config/schema.js";
import { whyNoModel } from "../../providers/catalogue/find-model.js";
import { hasUsableProvider } from "../../providers/catalogue/presets.js";
import { writeTemplates } from "../../templates/write.js";
import { openContext } from "../context.js";
import { CommandError } from "../exit.js";
import { describeEffect } from "../gateway/config-effect.js";
import { existingConfig } from "../gateway/config-file.js";
import { connectRunning } from "../gateway/connect.js";
import { print, printNote } from "../text/output.js";
import { setUpChannel } from "./channel-step.js";
import { Draft } from "./draft.js";
import { checkFlags, type OnboardFlags, readSecrets } from "./flags.js";
import type { Prompts } from "./prompts.js";
import { setUpProvider } from "./provider-step.js";
import { setUpService } from "./service-step.js";
import type { Setup } from "./setup.js";
import { Stopped } from "./stopped.js";

const running = z.object({ channels: z.array(z.object({ name: z.string() })).default([]) });

/** The steps one after the other. What a step has come to is written before the next one begins. */
export class Onboarding {
  readonly #flags: OnboardFlags;
  readonly #mayAsk: boolean;
  readonly #kept: string[] = [];
  readonly #keys: string[] = [];
  readonly #files: string[] = [];

  constructor(flags: OnboardFlags, mayAsk: boolean) {
    this.#flags = flags;
    this.#mayAsk = mayAsk;
  }

  /** Resolves with the exit code. @throws {CommandError} */
  async run(): Promise<number> {
    checkFlags(this.#flags);
    const interrupted = new AbortController();
    // While nothing is asked, the terminal turns Ctrl+C into a signal.
    const onInterrupt = (): void => interrupted.abort(new Stopped());
    process.on("SIGINT", onInterrupt);
    try {
      await this.#steps(interrupted.signal);
      return 0;
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      printNote(`\n${this.#whatWasKept()}`);
      return 130;
    } finally {
      process.off("SIGINT", onInterrupt);
    }
  }

  async #steps(signal: AbortSignal): Promise<void> {
    const before = await openContext();
    const { unparsable, problems } = before.loaded;
    if (unparsable !== undefined && this.#flags.force !== true)
      throw new CommandError(`${problems[0]}. ${unparsable.advice ?? "Correct it, or replace it with --force."}`);
    const draft = await Draft.open(before.home, this.#flags.force === true);
    const prompts = this.#mayAsk ? await openPrompts(signal) : undefined;
    const given = await readSecrets(this.#flags);
    const runningChannels = await channelsOfRunning(before);
    const setup: Setup = { draft, flags: this.#flags, given, prompts, runningChannels, signal };
    prompts?.begin(
      draft.isNew
        ? `maxclaw: a first config, ${draft.path}`
        : `maxclaw: ${draft.path} stays, except for what you answer`,
    );
    const provider = await setUpProvider(setup);
    if (provider !== undefined) await this.#keep(draft, provider);
    const channel = await setUpChannel(setup);
    if (channel !== undefined) await this.#keep(draft, channel);
    await this.#keep(draft, undefined);
    await this.#writeWorkspace();
    const isStarted = await setUpService(setup);
    await this.#sayWhatIsNext(setup, isStarted);
  }

  async #keep(draft: Draft, what: string | undefined): Promise<void> {
    const { keys, files } = await draft.keep();
    this.#keys.push(...keys);
    if (what !== undefined) this.#kept.push(what);
    for (const file of files.filter((one) => !this.#files.includes(one))) print(`Wrote ${file}`);
    this.#files.push(...files);
  }

  async #writeWorkspace(): Promise<void> {
    const { home, loaded } = await openContext();
    if (this.#files.length === 0) print(`Kept ${existingConfig(home)}`);
    const { workspace } = loaded.config.agents.defaults;
    for (const name of await writeTemplates(workspace, { overwrite: this.#flags.force === true }))
      print(`Wrote ${workspace}/${name}`);
    for (const problem of loaded.problems) print(`Problem: ${problem}`);
  }

  async #sayWhatIsNext({ prompts, draft, flags }: Setup, isStarted: boolean): Promise<void> {
    prompts?.end(
      this.#files.length === 0
        ? "Nothing was changed."
        : `Set up: ${this.#kept.join("; ") || "a place for everything, and nothing in it yet"}.`,
    );
    if (isAnswered(flags) === false && prompts === undefined && flags.yes !== true)
      printNote(
        "There is no terminal, so nothing was asked. What can be said by flags: --provider, --key-env or --key-stdin, --model, --channel, --token-env or --token-stdin, --owner, --service. See: maxclaw onboard --help",
      );
    const context = await openContext();
    const lack = whatModelLacks(context.loaded.config);
    if (lack !== undefined) printNote(lack);
    const effect = await describeEffect(context, draft.path, this.#keys).catch(() => undefined);
    if (effect !== undefined) printNote(effect);
    const first = lack === undefined ? "" : "a model, as above; then ";
    if (effect !== undefined || isStarted)
      print(`Next: ${first}maxclaw agent to talk right here, or open the page: maxclaw status`);
    else print(`Next: ${first}maxclaw gateway, or maxclaw agent to talk right here`);
  }

  #whatWasKept(): string {
    if (this.#kept.length === 0) return "Stopped. Nothing was changed.";
    return `Stopped. Kept: ${this.#kept.join("; ")}. To go on: maxclaw onboard`;
  }
}

/** The library for questions is loaded here, and only here. */
async function openPrompts(signal: AbortSignal): Promise<Prompts> {
  const { Prompts: Questions } = await import("./prompts.js");
  return new Questions(signal);
}

/** Why no model can answer yet, and what to do; undefined where one can. */
function whatModelLacks(config: Config): string | undefined {
  const reason = whyNoModel(config);
  if (reason === undefined) return undefined;
  const isEmpty = !hasUsableProvider(config.providers) && config.agents.defaults.model === undefined;
  if (!isEmpty) return `No model can answer yet. ${reason}`;
  return "No model can answer yet: the offline stand-in does, which only explains itself, or Ollama if it runs on this machine. To set one up: maxclaw onboard in a terminal, or e.g. maxclaw onboard --yes --provider openai --key-env OPENAI_API_KEY --model gpt-5.6";
}

function isAnswered({ provider, model, channel, service }: OnboardFlags): boolean {
  return [provider, model, channel, service].some((one) => one !== undefined);
}

async function channelsOfRunning(context: Parameters<typeof connectRunning>[0]): Promise<readonly string[]> {
  const client = await connectRunning(context).catch(() => undefined);
  if (client === undefined) return [];
  const { data } = running.safeParse(await client.get("/api/status"));
  return data?.channels.map(({ name }) => name) ?? [];
}

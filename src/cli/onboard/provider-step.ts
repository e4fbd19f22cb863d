import { problemOfKey } from "../../config/settings/typed-key.js";
import { type ProviderTrial, tryProvider } from "../../onboarding/try-provider.js";
import { misplacedKey } from "../../providers/catalogue/presets.js";
import { CommandError } from "../exit.js";
import { reference, usage } from "./flags.js";
import { setUpModel } from "./model-step.js";
import type { Choice } from "./prompts.js";
import { isLocal, keyVariable, needsAddress, offeredProviders, usualAddress } from "./providers.js";
import { report, type Setup, textAt } from "./setup.js";

type Pick = "as it is" | "another" | string;

/** Who runs the model, with a key that was tried, and which model. Resolves with what was chosen; undefined: nothing. */
export async function setUpProvider(setup: Setup): Promise<string | undefined> {
  const name = setup.flags.provider ?? (await chosenProvider(setup));
  if (name === undefined) return await setUpModel(setup, undefined, undefined);
  await setAddress(setup, name);
  const { key } = setup.given;
  if (key !== undefined) setup.draft.set(["providers", name, "apiKey"], key);
  else await setKey(setup, name);
  const models = setup.flags.offline === true ? undefined : await triedModels(setup, name);
  if (setup.flags.offline === true) report(setup, `${name} was not tested (--offline).`, "success");
  return await setUpModel(setup, name, models);
}

async function chosenProvider(setup: Setup): Promise<string | undefined> {
  const { prompts } = setup;
  if (prompts === undefined) return undefined;
  const model = textAt(setup, ["agents", "defaults", "model"]);
  const first: Choice<Pick> = {
    value: "as it is",
    label: model === undefined ? "Nobody yet" : `As it is: ${model}`,
    ...(model === undefined ? { hint: "a local Ollama answers, or a stand-in that only explains itself" } : {}),
  };
  const offered = offeredProviders.map((value): Choice<Pick> => {
    const hasKey = textAt(setup, ["providers", value, "apiKey"]) !== undefined;
    return { value, ...(hasKey ? { hint: "has a key" } : isLocal(value) ? { hint: "on your own machine" } : {}) };
  });
  const another: Choice<Pick> = {
    ...{ value: "another", label: "Another one", hint: "with an address of its own" },
    isOther: true,
  };
  const choices = model === undefined ? [...offered, another, first] : [first, ...offered, another];
  const { value: pick, typed } = await prompts.find("Who runs the model?", choices);
  if (pick === "as it is") return undefined;
  if (pick !== "another") return pick;
  return await prompts.line("Its name, as you want to call it", {
    initial: typed || undefined,
    problem: (typed) =>
      /^[a-z0-9][a-z0-9_-]*$/i.test(typed) ? undefined : "A name has letters, digits, - and _ only.",
  });
}

async function setAddress(setup: Setup, name: string): Promise<void> {
  const { draft, flags, prompts } = setup;
  const path = ["providers", name, "apiBase"];
  const known = textAt(setup, path);
  if (flags.apiBase !== undefined) {
    if (!isAddress(flags.apiBase))
      throw usage(`${flags.apiBase} is not an address. It must begin with http:// or https://.`);
    draft.set(path, flags.apiBase);
  } else if (known === undefined && needsAddress(name)) {
    if (prompts === undefined)
      throw usage(`maxclaw does not know the address of the provider ${name}. Give it with --api-base.`);
    draft.set(path, await askAddress(setup));
  } else if (known === undefined && isLocal(name)) draft.set(path, usualAddress(name));
}

function isAddress(typed: string): boolean {
  return /^https?:\/\//i.test(typed) && URL.canParse(typed);
}

async function askAddress({ prompts }: Setup): Promise<string> {
  const problem = (typed: string): string | undefined =>
    isAddress(typed) ? undefined : "It must begin with http:// or https://.";
  return (await prompts?.line("Its address", { example: "http://127.0.0.1:8000/v1", problem })) ?? "";
}

/** Leaves a key that is there, unless somebody types another one. */
async function setKey(setup: Setup, name: string): Promise<void> {
  const { draft, prompts } = setup;
  const path = ["providers", name, "apiKey"];
  const known = textAt(setup, path);
  if (isLocal(name)) return;
  if (prompts === undefined) {
    if (known === undefined && textAt(setup, ["providers", name, "apiBase"]) === undefined)
      draft.set(path, reference(keyVariable(name)));
    return;
  }
  if (known === undefined || !(await prompts.confirm(`Keep the key of ${name} that is there?`)))
    await askKey(setup, name);
}

async function askKey({ draft, prompts }: Setup, name: string): Promise<void> {
  const variable = keyVariable(name);
  const isFree = needsAddress(name);
  const without = isFree ? "empty: it needs none" : `empty: taken from ${variable} at each start`;
  const key = await prompts?.secret(`The API key of ${name} (${without})`, problemOfKey);
  if (key) draft.set(["providers", name, "apiKey"], key);
  else draft.set(["providers", name, "apiKey"], isFree ? undefined : reference(variable));
}

/**
 * Asks the provider at once, and for another key until it takes one. Undefined: it was not found out which models it has.
 *
 * @throws {CommandError} nobody can be asked
 */
async function triedModels(setup: Setup, name: string): Promise<readonly string[] | undefined> {
  for (;;) {
    const { config } = await setup.draft.preview();
    const settings = config.providers[name] ?? { models: [] };
    const hasKey = (config.providers[name]?.apiKey ?? "") !== "";
    const misplaced = misplacedKey(name, settings);
    setup.prompts?.say(`Asking ${name} …`);
    const trial: ProviderTrial =
      misplaced === undefined
        ? await tryProvider(name, config.providers, setup.signal)
        : { kind: "refused", reason: misplaced };
    if (trial.kind === "ok") {
      const count = trial.models.length === 1 ? "1 model" : `${trial.models.length} models`;
      report(setup, `${name} ${hasKey ? "takes the key" : "answers"}, and has ${count}.`, "success");
      return trial.models;
    }
    const sentence = failureOf(trial, name, hasKey);
    if (setup.prompts === undefined && trial.kind === "refused")
      throw new CommandError(`${sentence} Nothing was written.`);
    report(setup, sentence, "warn");
    if (setup.prompts === undefined || (await afterFailure(setup, name, trial)) === "on") return undefined;
  }
}

function failureOf(trial: Exclude<ProviderTrial, { readonly kind: "ok" }>, name: string, hasKey: boolean): string {
  if (trial.kind === "incomplete") return `${name} has no key here yet, so it was not tested.`;
  const reason = trial.reason.replace(/^\S+ cannot be reached: /, "").replace(/\.$/, "");
  const untested = hasKey ? "the key is not tested" : "it was not tested";
  if (trial.kind === "refused")
    return hasKey ? `${name} does not take the key: ${reason}.` : `${name} lets nobody in without a key: ${reason}.`;
  if (trial.kind === "unreached") return `${name} could not be reached, so ${untested}: ${reason}.`;
  return `${name} answered, but ${untested}: ${reason}.`;
}

async function afterFailure(setup: Setup, name: string, { kind }: ProviderTrial): Promise<"on" | "again"> {
  const { prompts, draft } = setup;
  if (prompts === undefined || kind === "incomplete") return "on";
  if (kind === "refused") {
    await askKey(setup, name);
    return "again";
  }
  const next = await prompts.choose("What now?", [
    { value: "again", label: "Try again" },
    { value: "on", label: "Go on without a test" },
    { value: "key", label: "Type another key" },
    { value: "address", label: "Type another address" },
  ]);
  if (next === "key") await askKey(setup, name);
  if (next === "address") draft.set(["providers", name, "apiBase"], await askAddress(setup));
  return next === "on" ? "on" : "again";
}

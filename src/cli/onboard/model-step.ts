import type { ConfigEdit } from "../../config/edit.js";
import { whyNoModel } from "../../providers/catalogue/find-model.js";
import { usage } from "./flags.js";
import type { Choice, Prompts } from "./prompts.js";
import { isLocal, withProvider } from "./providers.js";
import { report, type Setup, textAt } from "./setup.js";

const path = ["agents", "defaults", "model"];
/** As many as a sentence can hold. */
const mostNamed = 8;

/**
 * Which model answers: one of the provider that was chosen. `name` is undefined while none was, and only a model that was named
 * counts then; `models` is undefined where the provider could not be asked. Resolves with what is set up, for people.
 *
 * @throws {CommandError} the model in the config is another provider's, or the one that was named cannot be called, and nobody can be asked
 */
export async function setUpModel(
  setup: Setup,
  name: string | undefined,
  models: readonly string[] | undefined,
): Promise<string | undefined> {
  const { draft, flags } = setup;
  if (name === undefined) {
    if (flags.model === undefined) return undefined;
    draft.set(path, flags.model);
    await assertCallable(setup);
    return `the model ${flags.model}`;
  }
  const model = flags.model ?? (await chosenModel(setup, name, models));
  if (model !== undefined) {
    draft.set(path, withProvider(model, name));
    const plain = model.startsWith(`${name}/`) ? model.slice(name.length + 1) : model;
    if (models !== undefined && models.length > 0 && !models.includes(plain) && !models.includes(model))
      report(setup, `${name} does not list the model ${plain}. Try it: maxclaw doctor --model`, "warn");
  }
  if (flags.model !== undefined) await assertCallable(setup);
  const label = textAt(setup, path);
  return label?.startsWith(`${name}/`) === true ? `${name} with the model ${label}` : name;
}

/** A model that was named has to have a provider. With --offline, variables may be set later. @throws {CommandError} */
async function assertCallable(setup: Setup): Promise<void> {
  const { draft, flags, prompts } = setup;
  const { config, off } = await draft.preview(flags.offline === true ? asIfSet(draft.get(["providers"])) : []);
  const refusal = whyNoModel(config);
  if (refusal === undefined) return;
  const label = textAt(setup, path) ?? "";
  const fault = off.find(({ section }) => label.startsWith(`${section.slice("providers.".length)}/`));
  const reason = fault === undefined ? refusal : `The model ${label} cannot answer: ${fault.reason}.`;
  if (prompts !== undefined) return report(setup, reason, "warn");
  const provider =
    flags.provider === undefined ? " Name its provider with --provider, and the key with --key-env." : "";
  const anyway = fault === undefined ? provider : " With --offline it is written all the same.";
  throw usage(`${reason} Nothing was written.${anyway}`);
}

/** Keys that are variables, as if each had a value. */
function asIfSet(providers: unknown): readonly ConfigEdit[] {
  return Object.entries(Object(providers)).flatMap(([name, settings]) => {
    const { apiKey } = Object(settings);
    const isVariable = typeof apiKey === "string" && apiKey.includes("${");
    return isVariable ? [{ path: ["providers", name, "apiKey"], value: "set later" }] : [];
  });
}

/** Undefined: what the config has stays. */
async function chosenModel(
  setup: Setup,
  name: string,
  models: readonly string[] | undefined,
): Promise<string | undefined> {
  const { prompts } = setup;
  if (prompts === undefined) return fittingModel(setup, name, models);
  const label = textAt(setup, path);
  const chosen = await askModel(prompts, name, models ?? [], label);
  if (chosen === undefined && label !== undefined && !isOf(setup, label, name, models))
    report(setup, `The model stays ${label}, which is not one of ${name}.`, "warn");
  return chosen;
}

async function askModel(
  prompts: Prompts,
  name: string,
  models: readonly string[],
  label: string | undefined,
): Promise<string | undefined> {
  const current = label?.startsWith(`${name}/`) === true ? label.slice(name.length + 1) : undefined;
  const byName = async (initial: string | undefined): Promise<string | undefined> =>
    (await prompts.line("Which model? (as the provider names it; empty: none yet)", { initial })) || undefined;
  if (models.length === 0) return await byName(current);
  const other: Choice<string> = { value: "", label: "Another one, by its name", isOther: true };
  const choices = [...inOrder(models).map((value): Choice<string> => ({ value })), other];
  const { value, typed } = await prompts.find("Which model?", choices, current);
  return value || (await byName(typed || current));
}

/** For when nobody can be asked: undefined where the config has one that fits, or where none is known. @throws {CommandError} */
function fittingModel(setup: Setup, name: string, models: readonly string[] | undefined): string | undefined {
  const label = textAt(setup, path);
  if (label !== undefined && isOf(setup, label, name, models)) return undefined;
  const talking = (models ?? []).filter(isTalking);
  const [first] = talking;
  // What runs at home costs nothing.
  if (first !== undefined && (talking.length === 1 || isLocal(name))) {
    const why =
      talking.length === 1 ? "the only one that it has" : "the first that it lists; name another one with --model";
    report(setup, `The model is ${withProvider(first, name)}, ${why}.`, "success");
    return first;
  }
  const there = talking.length === 0 ? "" : ` ${name} has ${listOf(talking)}.`;
  const todo = `Choose one with --model, e.g. --model ${first ?? "<model>"}.`;
  if (label !== undefined)
    throw usage(`The model ${label} is not one of ${name}.${there} ${todo} Nothing was written.`);
  report(setup, `No model is chosen yet.${there} ${todo}`, "warn");
  return undefined;
}

/** Whether a model of the config is called at this provider. Without a list a name alone tells it only where there is no other one. */
function isOf({ draft }: Setup, label: string, name: string, models: readonly string[] | undefined): boolean {
  if (label.startsWith(`${name}/`)) return true;
  const others = configuredBeside(draft.get(["providers"]), name);
  if (others.some((other) => label.startsWith(`${other}/`))) return false;
  return models === undefined || models.length === 0 ? others.length === 0 : models.includes(label);
}

/** Providers of the config that have a key or an address. */
function configuredBeside(providers: unknown, name: string): readonly string[] {
  if (typeof providers !== "object" || providers === null) return [];
  return Object.entries(providers).flatMap(([other, settings]) => {
    const { apiKey, apiBase } = Object(settings);
    return other !== name && [apiKey, apiBase].some((one) => typeof one === "string" && one !== "") ? [other] : [];
  });
}

function listOf(models: readonly string[]): string {
  const shown = models.slice(0, mostNamed).join(", ");
  return models.length > mostNamed ? `${shown} and ${models.length - mostNamed} more` : shown;
}

/** Those that do not talk are named last. */
function inOrder(models: readonly string[]): readonly string[] {
  return [...models.filter(isTalking), ...models.filter((id) => !isTalking(id))];
}

function isTalking(id: string): boolean {
  return !/embed|whisper|tts|dall-e|moderation|rerank|transcri|speech|image|audio|realtime|davinci|babbage/i.test(id);
}

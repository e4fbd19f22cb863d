import type { SetUpField } from "../../channels/platform.js";
import { askedFields, settingsFor, titleIn } from "../../onboarding/set-up.js";
import { usage } from "./flags.js";
import { type Setup, textAt } from "./setup.js";

/**
 * What is there stays, unless somebody says otherwise. False: somebody wants to go back.
 *
 * @throws {CommandError} something lacks, and nobody can be asked
 */
export async function setFields(setup: Setup, name: string): Promise<boolean> {
  const { prompts, given } = setup;
  const fields = askedFields(name);
  const secret = fields.find(({ kind }) => kind === "secret");
  if (given.token !== undefined && secret !== undefined) write(setup, name, secret, given.token);
  for (const setting of setup.flags.set ?? []) setByFlag(setup, name, setting);
  const lacking = fields.find((field) => field.isOptional !== true && !isSet(setup, name, field));
  if (prompts === undefined) {
    if (lacking !== undefined) throw usage(whatLacks(name, lacking, lacking === secret));
    return true;
  }
  if (setup.flags.set !== undefined || given.token !== undefined) {
    if (lacking === undefined) return true;
  }
  const what = isTokenAlone(name) ? "token" : "login";
  if (lacking === undefined && (await prompts.confirm(`Keep the ${what} of ${titleIn(name)} that is there?`)))
    return true;
  return await askFields(setup, name);
}

/** Asks for everything, and offers what is there. False: nothing was typed where something is needed. */
export async function askFields(setup: Setup, name: string): Promise<boolean> {
  for (const field of askedFields(name)) {
    const typed = await ask(setup, name, field);
    if (typed !== undefined && typed !== "") write(setup, name, field, typed);
    else if (field.isOptional !== true) return false;
  }
  return true;
}

/** A token is all that it wants. */
export function isTokenAlone(name: string): boolean {
  const [first, ...others] = askedFields(name);
  return first?.key === "token" && others.length === 0;
}

async function ask({ prompts, draft }: Setup, name: string, field: SetUpField): Promise<string | undefined> {
  const { kind, label, asked = label.en, choices = [], isOptional } = field;
  const known = draft.get(["channels", name, field.key]);
  const typable = isOptional === true ? asked : orBack(asked);
  switch (kind) {
    case "secret":
      return await prompts?.secret(typable);
    case "consent":
      return (await prompts?.confirm(`${asked}?`, false)) === true ? "yes" : "no";
    case "choice":
      return await prompts?.choose(
        asked,
        choices.map((value) => ({ value, label: value })),
      );
    default: {
      const initial = typeof known === "string" && known !== "" ? { initial: known } : {};
      return await prompts?.line(typable, initial);
    }
  }
}

/** A question with the way out of it. */
export function orBack(question: string): string {
  return question.endsWith(")") ? `${question.slice(0, -1)}; empty: back)` : `${question} (empty: back)`;
}

/** `key=value`, or `key=${NAME}` for a variable. @throws {CommandError} the channel does not ask for this key */
function setByFlag(setup: Setup, name: string, setting: string): void {
  const at = setting.indexOf("=");
  const field = askedFields(name).find(({ key }) => key === setting.slice(0, at));
  if (at === -1 || field === undefined) {
    const keys = askedFields(name).map(({ key }) => key);
    throw usage(
      `--set ${setting.slice(0, at === -1 ? 40 : at)}: ${name} asks for ${keys.join(", ")}. Write --set key=value.`,
    );
  }
  write(setup, name, field, setting.slice(at + 1));
}

function write({ draft }: Setup, name: string, field: SetUpField, typed: string): void {
  for (const [key, value] of settingsFor(field, typed)) draft.set(["channels", name, ...key.split(".")], value);
}

function isSet(setup: Setup, name: string, { key, kind }: SetUpField): boolean {
  const path = ["channels", name, ...key.split(".")];
  return kind === "consent" ? setup.draft.get(path) === true : kind === "choice" || textAt(setup, path) !== undefined;
}

function whatLacks(name: string, { key, label }: SetUpField, isSecret: boolean): string {
  if (isTokenAlone(name)) return `--channel ${name} needs its token: --token-env NAME or --token-stdin.`;
  const how = isSecret ? "--token-env NAME or --token-stdin" : `--set ${key}=…`;
  return `--channel ${name} needs more: ${label.en} (${how}).`;
}

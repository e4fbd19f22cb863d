import { createInterface } from "node:readline";
import { problemOfKey } from "../../config/settings/typed-key.js";
import { isOffered, offeredChannels, personOf, platformIn } from "../../onboarding/set-up.js";
import { CommandError, exitCodes } from "../exit.js";

/** As they are typed. */
export interface OnboardFlags {
  readonly yes?: true;
  readonly force?: true;
  readonly offline?: true;
  readonly provider?: string;
  readonly apiKey?: string;
  readonly keyEnv?: string;
  readonly keyStdin?: true;
  readonly apiBase?: string;
  readonly model?: string;
  /** One that is offered, or `none`. */
  readonly channel?: string;
  readonly set?: readonly string[];
  readonly token?: string;
  readonly tokenEnv?: string;
  readonly tokenStdin?: true;
  readonly address?: string;
  readonly imap?: string;
  readonly smtp?: string;
  readonly consent?: true;
  readonly owner?: string;
  readonly service?: boolean;
}

/** A secret as it is going to be in the config: itself, or the variable that holds it. */
export interface GivenSecrets {
  readonly key: string | undefined;
  readonly token: string | undefined;
}

/** @throws {CommandError} with what does not go together */
export function checkFlags(flags: OnboardFlags): void {
  const { provider, channel } = flags;
  const keys = [flags.apiKey, flags.keyEnv, flags.keyStdin].filter((one) => one !== undefined);
  const tokens = [flags.token, flags.tokenEnv, flags.tokenStdin].filter((one) => one !== undefined);
  if (provider === undefined && (keys.length > 0 || flags.apiBase !== undefined))
    throw usage("Whose key or address is that? Name the provider with --provider.");
  if (provider !== undefined && !/^[a-z0-9][a-z0-9_-]*$/i.test(provider))
    throw usage("A provider's name has letters, digits, - and _ only.");
  if (keys.length > 1) throw usage("Give the key once: by --key-env, --key-stdin or --key.");
  if (tokens.length > 1) throw usage("Give the token once: by --token-env, --token-stdin or --token.");
  const isReal = channel !== undefined && channel !== "none";
  if (isReal && !isOffered(channel))
    throw usage(`There is no channel ${channel} to set up. There is: ${offeredChannels.join(", ")}, none.`);
  if (!isReal && (tokens.length > 0 || flags.owner !== undefined || flags.set !== undefined))
    throw usage("Whose token or owner is that? Name the channel with --channel.");
  const mail = [flags.address, flags.imap, flags.smtp, flags.consent].some((one) => one !== undefined);
  if (mail && platformIn(channel ?? "") !== "email")
    throw usage("--address, --imap, --smtp and --consent go with --channel email.");
  if (isReal && flags.owner !== undefined) {
    const problem = problemOfOwner(channel, flags.owner);
    if (problem !== undefined) throw usage(`--owner: ${problem}`);
  }
  for (const name of [flags.keyEnv, flags.tokenEnv])
    if (name !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw usage(`"${name}" is not the name of a variable, such as OPENAI_API_KEY.`);
  if ((flags.keyStdin ?? flags.tokenStdin) === true && process.stdin.isTTY)
    throw usage("--key-stdin and --token-stdin read from a pipe. Without them the key is asked for here.");
}

/** @throws {CommandError} the pipe ends too early */
export async function readSecrets(flags: OnboardFlags): Promise<GivenSecrets> {
  const lines = (flags.keyStdin ?? flags.tokenStdin) === true ? linesOfPipe() : undefined;
  const of = async (
    plain: string | undefined,
    variable: string | undefined,
    piped: true | undefined,
    flag: string,
  ): Promise<string | undefined> => {
    if (piped === undefined) return variable === undefined ? plain?.trim() : reference(variable);
    const line = (await lines?.next())?.value?.trim();
    if (!line) throw usage(`${flag} found nothing in the pipe. Write the key first, then the token, each as a line.`);
    return line;
  };
  const key = await of(flags.apiKey, flags.keyEnv, flags.keyStdin, "--key-stdin");
  const problem = problemOfKey(key ?? "");
  if (problem !== undefined) throw usage(`${problem}.`);
  return { key, token: await of(flags.token, flags.tokenEnv, flags.tokenStdin, "--token-stdin") };
}

/** What is wrong with the id of a person, as people type it. */
export function problemOfOwner(channel: string, id: string): string | undefined {
  const person = personOf(channel);
  return person === undefined || new RegExp(person.pattern).test(id) ? undefined : `"${id}" is ${person.refusal}`;
}

/** As the config names a variable, which is read at each start. */
export function reference(variable: string): string {
  return `\${${variable}}`;
}

async function* linesOfPipe(): AsyncGenerator<string, undefined> {
  for await (const line of createInterface({ input: process.stdin })) yield line;
  return undefined;
}

export function usage(sentence: string): CommandError {
  return new CommandError(sentence, exitCodes.usage);
}

import { listModels } from "./list-models.js";
import { type ProviderSettings, toUsable } from "./presets.js";

/**
 * Whether the provider is there, by asking for its list of models, which costs nothing: also a refusal is an answer.
 * Undefined where the config has no address for it.
 */
export async function providerAnswers(
  providers: Readonly<Record<string, ProviderSettings>>,
  name: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const settings = Object.hasOwn(providers, name) ? providers[name] : undefined;
  const address = settings && toUsable(name, settings);
  if (address === undefined) return undefined;
  let status: number | undefined;
  const onAnswer = (response: Response): void => {
    status = response.status;
  };
  try {
    await listModels(address, signal, onAnswer);
    return true;
  } catch {
    // Whatever it says: a busy or broken server says so by its status, and one that is not there says nothing.
    return status !== undefined && status < 500 && status !== 429 && status !== 408;
  }
}

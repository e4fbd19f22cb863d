import { presets } from "../../providers/catalogue/presets.js";

/** In the order in which they are offered. */
export const offeredProviders = Object.keys(presets);

/** True when maxclaw has no address for a provider of this name: somebody has to give one. */
export function needsAddress(provider: string): boolean {
  return !Object.hasOwn(presets, provider);
}

/** True when a provider of this name runs on people's own machines and wants no key. */
export function isLocal(provider: string): boolean {
  return Object.hasOwn(presets, provider) && presets[provider]?.isLocal === true;
}

/** Where it is reached without an address of one's own. */
export function usualAddress(provider: string): string | undefined {
  return Object.hasOwn(presets, provider) ? presets[provider]?.apiBase : undefined;
}

/** The environment variable that usually holds a provider's key. */
export function keyVariable(provider: string): string {
  return `${provider.toUpperCase().replaceAll("-", "_")}_API_KEY`;
}

/** The prefix tells for certain whose model it is. */
export function withProvider(model: string, provider: string | undefined): string {
  return provider === undefined || model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
}

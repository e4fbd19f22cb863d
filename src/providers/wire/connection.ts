import { ProviderError, type ProviderErrorKind } from "../../errors.js";
import type { Provider } from "../provider.js";

/** Whether calls reach a provider, as the last one tells. `connecting` until there was one. */
export type ProviderConnection = "connecting" | "connected" | "disconnected";

export interface ProviderConnectionChange {
  /** The provider's. */
  readonly name: string;
  readonly from: ProviderConnection;
  readonly to: ProviderConnection;
  /** Why calls do not get through. */
  readonly reason?: string;
}

/** Failures that say that no call gets through, whatever is asked. */
const cuts: ReadonlySet<ProviderErrorKind> = new Set(["network", "timeout", "overloaded", "auth", "billing"]);

/** The same provider, telling when its calls begin to get through, and when they do not any more. */
export function withConnection(provider: Provider, onChange: (change: ProviderConnectionChange) => void): Provider {
  let state: ProviderConnection = "connecting";
  const enter = (to: ProviderConnection, reason?: string): void => {
    const from = state;
    if (from === to) return;
    state = to;
    onChange({ name: provider.name, from, to, ...(reason === undefined ? {} : { reason }) });
  };
  return {
    name: provider.name,
    async *stream(request, signal) {
      try {
        for await (const chunk of provider.stream(request, signal)) {
          enter("connected");
          yield chunk;
        }
      } catch (error) {
        if (error instanceof ProviderError && cuts.has(error.kind)) enter("disconnected", error.message);
        throw error;
      }
    },
  };
}

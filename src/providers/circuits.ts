import { ProviderError } from "../errors.js";
import type { Provider, ProviderChunk } from "./provider.js";
import { reactions } from "./reactions.js";

export interface CircuitChange {
  readonly provider: string;
  /** The model's id as the API names it. */
  readonly model: string;
  readonly from: CircuitState;
  readonly to: CircuitState;
  /** What the last failure was, when it opened. */
  readonly reason?: string;
}

/** Closed: calls go through. Open: none does. Half open: one does, and decides. */
export type CircuitState = "closed" | "open" | "half_open";

export interface CircuitOptions {
  /** Faults in a row that open a circuit. Default 5. */
  readonly faults?: number | undefined;
  /** How long it stays open. Default 30 000. */
  readonly openMs?: number | undefined;
  readonly now?: (() => number) | undefined;
  readonly onChange?: ((change: CircuitChange) => void) | undefined;
}

/** Keeps calls from models that have failed several times in a row. One circuit for each provider and model. */
export interface Circuits {
  /**
   * The same provider; each call first asks the circuit of its model.
   *
   * @throws {ProviderError} `circuit_open`, with the time until it may be tried, and then nothing is sent
   */
  guard(provider: Provider): Provider;
  /** This provider answers again: of each of its circuits that is open the next call decides, however long that would be. */
  mayTry(provider: string): void;
}

interface Circuit {
  readonly provider: string;
  state: CircuitState;
  faults: number;
  openedAt: number;
  lastFault: string;
}

export function createCircuits(options: CircuitOptions = {}): Circuits {
  const { faults: maxFaults = 5, openMs = 30_000, now = Date.now, onChange = () => {} } = options;
  const circuits = new Map<string, Circuit>();

  const circuitOf = (provider: string, model: string): Circuit => {
    const key = `${provider}/${model}`;
    const circuit = circuits.get(key) ?? { provider, state: "closed", faults: 0, openedAt: 0, lastFault: "" };
    circuits.set(key, circuit);
    return circuit;
  };

  async function* stream(
    provider: Provider,
    request: Parameters<Provider["stream"]>[0],
    signal: AbortSignal,
  ): AsyncGenerator<ProviderChunk> {
    const { name } = provider;
    const { model } = request;
    const circuit = circuitOf(name, model);
    const to = (state: CircuitState, reason?: string): void => {
      const from = circuit.state;
      if (from === state) return;
      circuit.state = state;
      onChange({ provider: name, model, from, to: state, ...(reason === undefined ? {} : { reason }) });
    };
    const leftMs = circuit.openedAt + openMs - now();
    if (circuit.state === "half_open" || (circuit.state === "open" && leftMs > 0))
      throw refusal(name, model, circuit, Math.max(leftMs, 1000));
    const isProbe = circuit.state === "open";
    if (isProbe) to("half_open");
    // An abort says nothing about the server: the next call is the probe then.
    let verdict: CircuitState | undefined = isProbe ? "open" : undefined;
    try {
      for await (const chunk of provider.stream(request, signal)) {
        if (chunk.kind === "end") {
          circuit.faults = 0;
          verdict = "closed";
        }
        yield chunk;
      }
    } catch (error) {
      if (error instanceof ProviderError && !signal.aborted) verdict = judge(circuit, error, isProbe);
      throw error;
    } finally {
      if (verdict !== undefined) to(verdict, verdict === "open" && circuit.faults > 0 ? circuit.lastFault : undefined);
    }
  }

  const judge = (circuit: Circuit, error: ProviderError, isProbe: boolean): CircuitState | undefined => {
    // Anyone who refuses a key or a request is there.
    if (!reactions[error.kind].isFault) return isProbe ? "closed" : undefined;
    // Calls that were on their way when it opened do not keep it open for longer.
    if (!isProbe && circuit.state !== "closed") return undefined;
    circuit.faults += 1;
    circuit.lastFault = error.message;
    if (!isProbe && circuit.faults < maxFaults) return undefined;
    circuit.openedAt = now();
    return "open";
  };

  return {
    guard: (provider) => ({
      name: provider.name,
      stream: (request, signal) => stream(provider, request, signal),
    }),
    mayTry(name) {
      for (const circuit of circuits.values())
        if (circuit.provider === name && circuit.state === "open") circuit.openedAt = now() - openMs;
    },
  };
}

function refusal(provider: string, model: string, { faults, lastFault }: Circuit, leftMs: number): ProviderError {
  const seconds = Math.ceil(leftMs / 1000);
  return new ProviderError(
    `${provider}/${model} has failed ${faults} times in a row and is left alone for another ${seconds} s. The last time: ${lastFault}`,
    { kind: "circuit_open", provider, retryAfterMs: leftMs },
  );
}

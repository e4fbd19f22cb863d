import { noUsage } from "../../events/content.js";
import { answerCost } from "../../events/machines/answer.js";
import type { ModelUse } from "../../events/model-use.js";
import type { ChosenModel, ModelRequest, NamedUsage, ProviderChunk } from "../../providers/provider.js";
import { estimateTokens } from "../../util/text/estimate-tokens.js";
import { minimumCost } from "../turn/budget.js";

/**
 * Adds up a call while it runs. Providers tell the output's tokens at the end at the earliest, some of them all of it: what
 * a cut answer has not named is estimated by its prompt and by what had come.
 */
export class CallMeter {
  readonly #model: ChosenModel;
  readonly #request: ModelRequest;
  #named: NamedUsage | undefined;
  #tokens = 0;

  constructor(model: ChosenModel, request: ModelRequest) {
    this.#model = model;
    this.#request = request;
  }

  /** The request that tells this meter what the stream names. */
  get request(): ModelRequest {
    return {
      ...this.#request,
      onUsage: (named) => {
        this.#named = named;
      },
    };
  }

  take(chunk: ProviderChunk): void {
    if (chunk.kind === "text" || chunk.kind === "thinking") this.#tokens += estimateTokens(chunk.text);
    else if (chunk.kind === "tool_input") this.#tokens += estimateTokens(chunk.json);
    else if (chunk.kind === "tool_call") this.#tokens += 1;
  }

  /** True once the model has begun to work: who refuses from the start sends no bill. */
  get hasBegun(): boolean {
    return this.#tokens > 0 || this.#named !== undefined;
  }

  /** What the call has used, if it ends here. */
  spent(): ModelUse {
    const { price, label: model } = this.#model;
    const usage = this.#named?.usage ?? noUsage;
    const cost = this.#named === undefined ? undefined : answerCost(this.#named, price);
    const hasPrompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens > 0;
    const prompt = hasPrompt ? { tokens: 0, usd: 0 } : minimumCost(this.#model, this.#request);
    const output = Math.max(0, Math.ceil(this.#tokens) - usage.output_tokens);
    const tokens = prompt.tokens + output;
    const guessUsd = price === undefined ? undefined : prompt.usd + (output * price.output) / 1_000_000;
    return {
      model,
      usage,
      ...(cost === undefined ? {} : { cost_usd: cost }),
      ...(tokens === 0 ? {} : { guess: { tokens, ...(guessUsd === undefined ? {} : { cost_usd: guessUsd }) } }),
    };
  }
}

import { messageOf, ProviderError } from "../../errors.js";
import type { ChosenModel, ModelChain, ModelRequest } from "../../providers/provider.js";
import { callModel, type ModelCall } from "../model/call.js";
import { systemPrompt } from "../model/context.js";
import { type RequestSources, toModelRequest } from "../model/request.js";
import { openRoom, type RoomKeeper } from "../model/room.js";
import type { TurnContext } from "./begin.js";
import { minimumCost, usedBy } from "./budget.js";
import { type Answered, interruptedEnd, type LoopEnd } from "./ending/loop-end.js";
import type { LiveTurn } from "./live-turn.js";

/** The models that the turn may ask, or its end where there are none. */
export async function chooseModels(turn: LiveTurn): Promise<ModelChain | LoopEnd> {
  const { ports, session } = turn.scope;
  const { signal } = turn.interruption;
  try {
    return await ports.models.chain(session.wanted, signal);
  } catch (error) {
    if (signal.aborted) return interruptedEnd(turn);
    const failure =
      error instanceof ProviderError ? error : new ProviderError(messageOf(error), { kind: "not_found", cause: error });
    return { kind: "failed", error: failure, unwritten: [] };
  }
}

/** The models as a turn asks them: with room for what they are to read, and within the turn's budget. */
export class TurnModel {
  readonly #turn: LiveTurn;
  readonly #chain: ModelChain;
  readonly #sources: RequestSources;
  readonly #room: RoomKeeper;

  constructor(turn: LiveTurn, chain: ModelChain, { files, skills }: TurnContext) {
    const { scope, log, interruption } = turn;
    const system = systemPrompt(files, skills.listing);
    this.#turn = turn;
    this.#chain = chain;
    this.#sources = {
      history: scope.session.history,
      turnId: log.turnId,
      system,
      tools: scope.ports.tools.declarations(),
    };
    this.#room = openRoom({ scope, log, signal: interruption.signal }, system);
  }

  /** The one that is asked first. */
  get first(): ChosenModel {
    const [first] = this.#chain.candidates();
    if (first === undefined) throw new Error("A chain of models was empty");
    return first;
  }

  /** The next answer, or how the turn ends without one. `model`: the one that is asked first. */
  async ask(model: ChosenModel, iteration: number): Promise<Answered | LoopEnd> {
    const { scope, log, budget, interruption } = this.#turn;
    const { machines } = scope;
    await this.#room.keep(model);
    if (interruption.signal.aborted) return interruptedEnd(this.#turn);
    const needed = budget.needsEstimate ? minimumCost(model, this.#request(model)) : { tokens: 0, usd: 0 };
    const exceeded = budget.admit(needed, usedBy(machines));
    if (exceeded !== undefined) return { kind: "budget", exceeded, unwritten: [] };
    const answer = await callModel(this.#call(iteration), log, machines, interruption.signal);
    switch (answer.status) {
      case "answered":
        return answer;
      case "failed":
        return { kind: "failed", error: answer.error, unwritten: answer.unwritten };
      case "interrupted":
        return { kind: "interrupted", partialMessageId: answer.partialMessageId, unwritten: answer.unwritten };
      default:
        return answer satisfies never;
    }
  }

  #call(iteration: number): ModelCall {
    const { scope, log, budget } = this.#turn;
    return {
      chain: this.#chain,
      request: (model) => this.#request(model),
      onSend: ({ label: model }, body) =>
        scope.ports.sessions.onSend?.({ sessionKey: scope.session.key, turnId: log.turnId, iteration, model, body }),
      iteration,
      maxAttempts: scope.options.maxModelAttempts,
      retryDelayMs: scope.options.retryDelayMs,
      shrink: this.#room.make,
      onCut: (spent, isKept) => {
        log.owe(budget.countsOfCut(spent));
        if (!isKept) log.discard(spent);
      },
    };
  }

  #request(model: ChosenModel): ModelRequest {
    return toModelRequest(model, this.#sources);
  }
}

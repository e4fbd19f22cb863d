import { EngineError } from "../../errors.js";
import type { ToolUsePart } from "../../events/content.js";
import { DoomLoop } from "../calls/doom-loop.js";
import { othersFor } from "../calls/provenance.js";
import { runToolCalls, type ToolCallScope } from "../calls/tool-calls.js";
import { beginIteration, beginTurn, dropTurn, hasBegun, refuseTurn, withEdits } from "./begin.js";
import { endTurn } from "./ending/end.js";
import { type Answered, finalEnd, interruptedEnd, type LoopEnd, limitEnd } from "./ending/loop-end.js";
import { type LiveTurn, openLiveTurn } from "./live-turn.js";
import { isOutdated } from "./retry/retried.js";
import type { TurnScope } from "./scope.js";
import { chooseModels, TurnModel } from "./turn-model.js";

/**
 * Takes one accepted message to its end: builds the context, calls the model and the tools it asks for until there is
 * a final text, and commits events, replies and acknowledgement together. A turn that an earlier process had begun goes
 * on where its events end. `signal` aborts when the process is to stop, which turns may outlast for a while, or when the
 * attempt was taken away, which ends the turn at once.
 */
export async function runTurn(scope: TurnScope, signal: AbortSignal): Promise<void> {
  using turn = await openLiveTurn(scope, signal);
  const end = await runLoop(turn).catch((error: unknown) => {
    if (!isTakenAway(error)) turn.log.abandonStream(scope.machines);
    throw error;
  });
  await turn.human.settled();
  const { stopMode } = turn.interruption;
  // Nobody has stopped it, but the process ends: the turn goes on at the next start.
  if (end.kind === "interrupted" && stopMode === undefined) return await scope.delivery.release();
  // Before the end is written, so that a crash in between stops them again.
  if (stopMode !== undefined && stopMode !== "cancel") await scope.ports.tasks.stop(scope.session.key);
  await endTurn(end, turn, stopMode ?? "stop");
}

/** The message goes in; then model and tools take turns until the model has nothing more to call. */
async function runLoop(turn: LiveTurn): Promise<LoopEnd> {
  const { earlier, budget, interruption, scope, log } = turn;
  const message = await withEdits(turn);
  if (message.change === "deleted" || isOutdated(turn)) return await dropTurn(turn);
  const exceeded = hasBegun(turn) ? undefined : await budget.begin(message.id);
  if (exceeded !== undefined) return await refuseTurn(turn, exceeded);

  const tools = toolScope(turn, message);
  const begun = await beginTurn(turn, message);
  const chain = await chooseModels(turn);
  const pending = earlier?.pending ?? [];
  if ("kind" in chain || pending.length > 0) await log.append(begun.opening.splice(0));
  if ("kind" in chain) return chain;
  const model = new TurnModel(turn, chain, begun);
  if (earlier !== undefined && pending.length > 0)
    await runToolCalls(pending, [], { ...tools, iteration: earlier.answers });

  for (let iteration = (earlier?.answers ?? 0) + 1; iteration <= scope.options.maxIterations; iteration++) {
    if (interruption.signal.aborted) break;
    const { first } = model;
    await beginIteration(turn, iteration, first, begun);
    const answer = await model.ask(first, iteration);
    if ("kind" in answer) return answer;
    const calls = callsIn(answer);
    if (calls.length === 0) return finalEnd(answer, scope.session.openTurn);
    await runToolCalls(
      calls.map((call) => ({ call })),
      answer.unwritten,
      { ...tools, iteration },
    );
  }
  await log.append(begun.opening.splice(0));
  return interruption.signal.aborted ? interruptedEnd(turn) : limitEnd(turn);
}

function callsIn({ message }: Answered): readonly ToolUsePart[] {
  return (message?.content ?? []).filter((part) => part.type === "tool_use");
}

/** What the calls of the turn work with, whichever answer makes them. */
function toolScope(
  { scope, log, human, earlier, interruption }: LiveTurn,
  message: ToolCallScope["message"],
): Omit<ToolCallScope, "iteration"> {
  const { session, machines } = scope;
  const ports = { ...scope.ports, policy: scope.ports.policy.ofTurn() };
  const { history } = session;
  const others = othersFor(message, ports.chat);
  const doom = new DoomLoop(earlier?.finished ?? [], log, human);
  const sight = {
    outside: () => history.outside(others),
    plan: () => session.plan.current,
    knowsAddress: (url: string) => history.knowsAddress(url),
    receivedHere: () => history.hasFiles,
    cwd: session.document.cwd,
  };
  return { ports, message, log, machines, human, doom, sight, interruption };
}

/** Another process works at the message, or this one has let go of its engine. */
function isTakenAway(error: unknown): boolean {
  return error instanceof EngineError && (error.kind === "fenced" || error.kind === "closed");
}

import type { ChosenModel } from "../../providers/provider.js";
import { estimateTokens } from "../../util/text/estimate-tokens.js";
import type { Toolbox } from "../ports.js";
import type { TurnScope } from "../turn/scope.js";
import type { TurnLog } from "../turn/turn-log.js";
import type { Room } from "./compaction.js";

/** The room that a turn's requests have in what the model can read. */
export interface RoomKeeper {
  /** Before a request: makes room when it would be too long. A stop ends this early. */
  keep(model: ChosenModel): Promise<void>;
  /** After the provider refused a request for its length: false when nothing can be left out any more. */
  make(model: ChosenModel): Promise<boolean>;
}

/** A provider that refuses again and again is not asked for ever. */
const maxRefusals = 4;

export function openRoom(
  { scope, log, signal }: { readonly scope: TurnScope; readonly log: TurnLog; readonly signal: AbortSignal },
  system: string,
): RoomKeeper {
  const { ports, session } = scope;
  const { compaction } = ports.context;
  const overhead = overheadOf(system, ports.tools);
  const roomOf = (chosen: ChosenModel): Room => ({
    history: session.history,
    currentTurnId: log.turnId,
    chosen,
    overhead,
  });
  let refusals = 0;

  const compress = async (room: Room, estimated: number, budget: number): Promise<boolean> => {
    log.publish(
      log.draft("context_compaction_needed", { session_key: session.key, estimated_tokens: estimated, budget }),
    );
    const change = await compaction.plan(room, signal);
    if (change === undefined) return false;
    await log.append([log.draft("context_compressed", change)]);
    return true;
  };

  return {
    async keep(model) {
      const room = roomOf(model);
      try {
        // The first step may only shorten the past; the next one then shortens the turn itself.
        for (let step = 0; step < 2; step++) {
          const need = compaction.need(room);
          if (need === undefined || !(await compress(room, need.estimated, need.budget))) return;
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    async make(model) {
      const room = roomOf(model);
      refusals += 1;
      if (refusals > maxRefusals) return false;
      compaction.learn(room);
      const need = compaction.need(room);
      return need !== undefined && (await compress(room, need.estimated, need.budget));
    },
  };
}

/** Tokens that each request takes besides the conversation, estimated. */
export function overheadOf(system: string, tools: Pick<Toolbox, "declarations">): number {
  return Math.ceil(estimateTokens(system)) + toolTokens(tools.declarations());
}

type Declarations = ReturnType<TurnScope["ports"]["tools"]["declarations"]>;

/** The declarations are the same list from turn to turn. */
const known = new WeakMap<Declarations, number>();

function toolTokens(declarations: Declarations): number {
  const tokens = known.get(declarations) ?? Math.ceil(estimateTokens(JSON.stringify(declarations)));
  known.set(declarations, tokens);
  return tokens;
}

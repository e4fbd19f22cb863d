import { useState } from "preact/hooks";
import type { TurnLine } from "../../../events/folds/timeline/turn-line.js";
import { costOf, durationOf, momentOf } from "../../parts/format.js";
import { Action } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { timelineHash } from "./place.js";
import { type TurnPage, TurnReader } from "./read.js";
import { timelineWords } from "./words.js";

const { t } = timelineWords;

/** The turns of a chat, newest first. */
export function TurnList({ world, sessionKey }: { readonly world: PaneWorld; readonly sessionKey: string }) {
  const reader = new TurnReader(world, sessionKey);
  const first = useLoad(world, () => reader.turns(), [sessionKey]);
  const [older, setOlder] = useState<readonly TurnPage[]>([]);
  return (
    <>
      <p class="card-line">
        <button type="button" class="button quiet" onClick={() => world.openChat(sessionKey)}>
          {t("openChat")}
        </button>
      </p>
      <WhenLoaded loaded={first}>
        {(newest) => {
          const pages = [newest, ...older];
          const before = pages.at(-1)?.before;
          const turns = pages.flatMap((page) => page.turns);
          if (turns.length === 0) return <p class="muted">{t("noTurns")}</p>;
          return (
            <>
              <ul class="cards">
                {turns.map((turn) => (
                  <TurnCard key={turn.turnId} turn={turn} sessionKey={sessionKey} />
                ))}
              </ul>
              {before === undefined ? undefined : (
                <Action run={async () => setOlder([...older, await reader.turns(before)])}>{t("older")}</Action>
              )}
            </>
          );
        }}
      </WhenLoaded>
    </>
  );
}

function TurnCard({ turn, sessionKey }: { readonly turn: TurnLine; readonly sessionKey: string }) {
  const { began, state, durationMs, used } = turn;
  return (
    <li class="card timeline-turn">
      <h2>
        <a href={timelineHash(sessionKey, turn.turnId)}>{began.words || t("wordless")}</a>
      </h2>
      <p class="card-line muted">
        <span>{momentOf(new Date(began.at))}</span>
        <span class={state === "failed" ? "problem-text" : ""}>{t(state)}</span>
        {durationMs === undefined ? undefined : <span>{durationOf(durationMs)}</span>}
        {used.costUsd === undefined ? undefined : <span>{costOf(used.costUsd)}</span>}
        {began.origin === "message" ? undefined : <span>{t(began.origin)}</span>}
      </p>
    </li>
  );
}

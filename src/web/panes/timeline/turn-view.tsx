import { useEffect, useState } from "preact/hooks";
import type { Timeline } from "../../../events/folds/timeline/timeline.js";
import { costOf, durationOf, momentOf, numberOf } from "../../parts/format.js";
import { Action, Section } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { Facts } from "./facts.js";
import { Picture } from "./picture.js";
import { timelineHash } from "./place.js";
import { type Replayed, TurnReader } from "./read.js";
import { channelName } from "./step-words.js";
import { timelineWords } from "./words.js";

const { t } = timelineWords;
/** A turn that runs is read again so often. */
const againMs = 2000;

interface TurnViewProps {
  readonly world: PaneWorld;
  readonly sessionKey: string;
  readonly turnId: string;
}

/** One turn: what it was, what took how long in it, and what can be done with it. */
export function TurnView({ world, sessionKey, turnId }: TurnViewProps) {
  const reader = new TurnReader(world, sessionKey);
  const loaded = useLoad(world, () => reader.timeline(turnId), [sessionKey, turnId]);
  const isRunning = loaded.value?.turn.state === "running";
  useEffect(() => {
    if (!isRunning) return;
    const timer = setTimeout(loaded.reload, againMs);
    return () => clearTimeout(timer);
  }, [isRunning, loaded.value]);
  return (
    <>
      <p class="card-line">
        <a class="button quiet timeline-all" href={timelineHash(sessionKey)}>
          {t("allTurns")}
        </a>
        <button type="button" class="button quiet" onClick={() => world.openChat(sessionKey)}>
          {t("openChat")}
        </button>
      </p>
      <WhenLoaded loaded={loaded}>
        {(timeline) => (
          <>
            <Head timeline={timeline} />
            <Section title={t("steps")}>
              {timeline.details === "kept" ? undefined : (
                <p class="note">{t(timeline.details === "dropped" ? "detailsDropped" : "detailsNever")}</p>
              )}
              <Picture world={world} reader={reader} timeline={timeline} />
            </Section>
            {isRunning ? undefined : <Again world={world} reader={reader} timeline={timeline} />}
          </>
        )}
      </WhenLoaded>
    </>
  );
}

function Head({ timeline: { turn } }: { readonly timeline: Timeline }) {
  const { began, used, durationMs, state, failure } = turn;
  const { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = used.usage;
  const input = input_tokens + cache_read_tokens + cache_write_tokens;
  return (
    <div class="card">
      <h2 class="timeline-words">{began.words || t("wordless")}</h2>
      <p class="card-line muted">
        <span>{momentOf(new Date(began.at))}</span>
        <span>{[channelName(began.channel), began.sender].filter(Boolean).join(" · ")}</span>
        {began.origin === "message" ? undefined : <span>{t(began.origin)}</span>}
        <span class={state === "failed" ? "problem-text" : ""}>{t(state)}</span>
      </p>
      {state === "failed" && failure !== undefined ? <p class="problem-text">{failure}</p> : undefined}
      {state === "running" ? <p role="status">{t("stillRunning")}</p> : undefined}
      <Facts
        rows={[
          [t("took"), durationMs === undefined ? undefined : durationOf(durationMs)],
          [t("waited"), durationOf(turn.queuedMs)],
          [t("modelCalls"), numberOf(used.modelCalls)],
          [t("toolCalls"), used.toolCalls === 0 ? undefined : numberOf(used.toolCalls)],
          [t("tokens"), t("tokensOf", { n: numberOf(input), out: numberOf(output_tokens) })],
          [t("cost"), costText(used)],
        ]}
      />
    </div>
  );
}

function costText({ costUsd, unpricedCalls }: Timeline["turn"]["used"]): string {
  if (costUsd === undefined) return t("costUnknown");
  return unpricedCalls === 0 ? costOf(costUsd) : t("costAtLeast", { amount: costOf(costUsd) });
}

/** What can be done with a turn that is over. */
function Again({
  world,
  reader,
  timeline,
}: {
  readonly world: PaneWorld;
  readonly reader: TurnReader;
  readonly timeline: Timeline;
}) {
  const [shown, setShown] = useState<Replayed>();
  const { turn } = timeline;
  const why = whyNotPlayed(timeline);
  return (
    <Section title={t("playAgain")} about={why === undefined ? t("playAbout", { id: turn.turnId }) : t(why)}>
      <p class="card-line">
        {why !== undefined ? undefined : (
          <Action run={async () => setShown(await reader.replay(turn.turnId))}>{t("playAgain")}</Action>
        )}
        <Action run={async () => world.openChat(await reader.fork(turn.lastSeq))}>{t("fork")}</Action>
      </p>
      {shown === undefined ? undefined : <Outcome shown={shown} />}
    </Section>
  );
}

/** What the page can know; the gateway says what else there is. */
function whyNotPlayed({ turn, steps }: Timeline): "notPlayedPeople" | "notPlayedEnd" | undefined {
  if (turn.state !== "complete") return "notPlayedEnd";
  return steps.some(({ kind }) => kind === "question") ? "notPlayedPeople" : undefined;
}

function Outcome({ shown: { events, isSame, difference } }: { readonly shown: Replayed }) {
  if (isSame || difference === undefined)
    return (
      <p class="note" role="status">
        {t("same", { n: numberOf(events) })}
      </p>
    );
  const { position, type, fields } = difference;
  return (
    <div role="status">
      <p class="note warning">{t("differs", { at: position, n: events, type })}</p>
      {fields.map(({ path, recorded, now }) => (
        <Facts
          key={path}
          rows={[
            [`${path}: ${t("recorded")}`, recorded],
            [t("now"), now],
          ]}
        />
      ))}
    </div>
  );
}

import { useState } from "preact/hooks";
import type { Step } from "../../../events/folds/timeline/step.js";
import type { Timeline } from "../../../events/folds/timeline/timeline.js";
import { durationOf, numberOf } from "../../parts/format.js";
import { Choice } from "../parts/choice.js";
import type { PaneWorld } from "../world.js";
import type { TurnReader } from "./read.js";
import { StepDetail } from "./step-detail.js";
import { isProblem, lengthOf, nameOf } from "./step-words.js";
import { timelineWords } from "./words.js";

const { t } = timelineWords;
/** Of a turn with hundreds of steps the rest is shown when somebody asks. */
const shownAtFirst = 60;
/** A short turn is seen at a glance. */
const filteredFrom = 8;

type Filter = "all" | "model" | "tools" | "people" | "problems";

const filters: Readonly<Record<Filter, (step: Step) => boolean>> = {
  all: () => true,
  model: ({ kind }) => kind === "model" || kind === "compaction",
  tools: ({ kind }) => kind === "tool" || kind === "agent",
  people: ({ kind }) => kind === "wait" || kind === "question" || kind === "delivery",
  problems: isProblem,
};

export interface PictureProps {
  readonly world: PaneWorld;
  readonly reader: TurnReader;
  readonly timeline: Timeline;
}

/** The steps of a turn below one axis of time. Each row says in words what its bar shows, and opens. */
export function Picture({ world, reader, timeline }: PictureProps) {
  const [filter, setFilter] = useState<Filter>("all");
  const [count, setCount] = useState(shownAtFirst);
  const steps = timeline.steps.filter(filters[filter]);
  const total = Math.max(1, timeline.totalMs);
  return (
    <div class="timeline-picture">
      {timeline.steps.length < filteredFrom ? undefined : (
        <Choice
          label={t("show")}
          chosen={filter}
          choose={setFilter}
          options={[
            { value: "all", label: t("all") },
            { value: "model", label: t("onlyModel") },
            { value: "tools", label: t("onlyTools") },
            { value: "people", label: t("onlyPeople") },
            { value: "problems", label: t("onlyErrors") },
          ]}
        />
      )}
      {steps.length === 0 ? (
        <p class="muted">{t("noneOfThese")}</p>
      ) : (
        <>
          <Axis totalMs={total} />
          <ol class="timeline-steps">
            {steps.slice(0, count).map((step) => (
              <StepRow
                key={step.id}
                step={step}
                totalMs={total}
                world={world}
                reader={reader}
                turnId={timeline.turn.turnId}
              />
            ))}
          </ol>
        </>
      )}
      {steps.length <= count ? undefined : (
        <button type="button" class="button quiet" onClick={() => setCount(steps.length)}>
          {t("showMore", { n: numberOf(steps.length - count) })}
        </button>
      )}
    </div>
  );
}

const marks = [0, 0.25, 0.5, 0.75, 1];

function Axis({ totalMs }: { readonly totalMs: number }) {
  return (
    <div class="timeline-axis muted" aria-hidden="true">
      <div>
        {marks.map((share) => (
          <span key={share} style={{ insetInlineStart: `${share * 100}%` }}>
            {share === 0 ? "0" : durationOf(totalMs * share)}
          </span>
        ))}
      </div>
    </div>
  );
}

interface StepRowProps extends Omit<PictureProps, "timeline"> {
  readonly step: Step;
  readonly totalMs: number;
  readonly turnId: string;
}

function StepRow({ step, totalMs, world, reader, turnId }: StepRowProps) {
  const [isOpen, setOpen] = useState(false);
  const { kind, what } = nameOf(step);
  return (
    <li>
      <details
        class={`timeline-step ${step.kind}${isProblem(step) ? " problem" : ""}`}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>
          <span class="timeline-name">
            <strong>{kind}</strong> <span class="timeline-what">{what}</span>
          </span>
          <Bar step={step} totalMs={totalMs} />
          <span class="timeline-length">
            <span class="off-screen">{t("startsAt", { at: durationOf(step.atMs) })}. </span>
            {lengthOf(step)}
          </span>
        </summary>
        {isOpen ? <StepDetail step={step} world={world} reader={reader} turnId={turnId} /> : undefined}
      </details>
    </li>
  );
}

function Bar({ step, totalMs }: { readonly step: Step; readonly totalMs: number }) {
  const share = (ms: number): number => Math.min(100, (ms / totalMs) * 100);
  const end = step.endMs ?? totalMs;
  const first = step.kind === "model" ? step.firstMs : undefined;
  const width = share(end) - share(step.atMs);
  return (
    <span class="timeline-track" aria-hidden="true">
      <span
        class={step.endMs === undefined ? "timeline-bar open" : "timeline-bar"}
        style={{ insetInlineStart: `${share(step.atMs)}%`, inlineSize: `${width}%` }}
      >
        {first === undefined || width === 0 ? undefined : (
          <span
            class="timeline-first"
            style={{ inlineSize: `${((share(first) - share(step.atMs)) / width) * 100}%` }}
          />
        )}
      </span>
    </span>
  );
}

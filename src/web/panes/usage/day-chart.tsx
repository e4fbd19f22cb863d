import { useState } from "preact/hooks";
import { costOf, numberOf } from "../../parts/format.js";
import { amountText, costText, dayText, type Measure, sizeOf, tokensText } from "./amounts.js";
import type { Row } from "./report.js";
import { usageWords } from "./words.js";

const height = 100;
const step = 10;

/** A bar for each day. The day under the pointer, or the one that the arrow keys have chosen, is named above; a table has all of them. */
export function DayChart({ days, measure }: { readonly days: readonly Row[]; readonly measure: Measure }) {
  const [chosen, choose] = useState<string>();
  const last = days.length - 1;
  const found = days.findIndex(({ name }) => name === chosen);
  const at = found === -1 ? last : found;
  const most = Math.max(...days.map((day) => sizeOf(day, measure)));
  const day = days[at];
  const first = days[0];
  const final = days[last];
  if (day === undefined || first === undefined || final === undefined) return undefined;
  const go = (to: number): void => choose(days[Math.min(last, Math.max(0, to))]?.name);
  const keys: Readonly<Record<string, number>> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
  const isNothing = most === 0;
  return (
    <figure class="usage-chart">
      <figcaption class="usage-day">
        <strong>{dayText(day.name)}</strong>
        <span>{costText(day)}</span>
        <span>{usageWords.t("tokensOf", { n: tokensText(day.tokens) })}</span>
        <span class="muted">{usageWords.count(day.turns, "messageOf", "messagesOf")}</span>
      </figcaption>
      <div
        class="usage-plot"
        role="slider"
        tabIndex={0}
        aria-label={usageWords.t("chart")}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at}
        aria-valuetext={`${dayText(day.name)}: ${amountText(day, measure)}`}
        onKeyDown={(event) => {
          const to = keys[event.key];
          if (to === undefined) return;
          event.preventDefault();
          go(to);
        }}
        onPointerMove={({ currentTarget, clientX }) => {
          const { left, width } = currentTarget.getBoundingClientRect();
          go(Math.floor(((clientX - left) / width) * days.length));
        }}
        onPointerLeave={({ pointerType }) => pointerType === "mouse" && choose(undefined)}
      >
        <svg viewBox={`0 0 ${days.length * step} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {days.map((one, index) => {
            const value = sizeOf(one, measure);
            const tall = isNothing || value === 0 ? 0 : Math.max(1.5, (value / most) * height);
            return (
              <g key={one.name} class={index === at ? "usage-bar current" : "usage-bar"}>
                <rect class="usage-lane" x={index * step} y={0} width={step} height={height} />
                <rect x={index * step + 1.5} y={height - tall} width={step - 3} height={tall} />
              </g>
            );
          })}
        </svg>
        <span class="usage-most muted" aria-hidden="true">
          {isNothing ? "" : measure === "cost" ? costOf(most) : tokensText(most)}
        </span>
      </div>
      <div class="usage-axis muted" aria-hidden="true">
        <span>{dayText(first.name)}</span>
        <span>{dayText(final.name)}</span>
      </div>
      <DayTable days={days} />
    </figure>
  );
}

/** What the bars show, for who does not see them. */
function DayTable({ days }: { readonly days: readonly Row[] }) {
  const { t } = usageWords;
  return (
    <table class="off-screen">
      <caption>{t("byDay")}</caption>
      <thead>
        <tr>
          {([t("day"), t("messages"), t("tokens"), t("cost")] as const).map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days
          .filter(({ calls, turns }) => calls + turns > 0)
          .map((day) => (
            <tr key={day.name}>
              <th scope="row">{dayText(day.name)}</th>
              <td>{numberOf(day.turns)}</td>
              <td>{numberOf(day.tokens)}</td>
              <td>{costText(day)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

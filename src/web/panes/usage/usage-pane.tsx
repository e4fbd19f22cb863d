import { useState } from "preact/hooks";
import { recordsIn, textIn } from "../../gateway/api.js";
import { numberOf } from "../../parts/format.js";
import type { PaneProps } from "../list.js";
import { Choice } from "../parts/choice.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import { costText, guessedCostText, type Measure, tokensText } from "./amounts.js";
import { BudgetBars } from "./budget-bars.js";
import { DayChart } from "./day-chart.js";
import { budgetName, personName } from "./names.js";
import { jobsName, type Report, restName, toReport } from "./report.js";
import { Shares } from "./shares.js";
import { usageWords } from "./words.js";

const periods = ["7", "30", "90"] as const;
const { t } = usageWords;

/** What the assistant has cost. Its argument is the number of days. */
export function UsagePane({ world, argument }: PaneProps) {
  const days = argument === "" ? "30" : argument;
  const [measure, setMeasure] = useState<Measure>("cost");
  const read = async () => {
    const report = await world.api.get(`api/usage?days=${encodeURIComponent(days)}`);
    return toReport(report, Number(days));
  };
  const usage = useLoad(world, read, [days]);
  // Their titles are an extra: without them jobs have their ids.
  const jobs = useLoad(world, async () => recordsIn((await world.api.get("api/cron")).jobs), []);
  const titles = new Map((jobs.value ?? []).map(({ id, title }) => [textIn(id), textIn(title)]));
  return (
    <>
      <div class="usage-choices">
        <Choice
          label={t("period")}
          options={periods.map((n) => ({ value: n, label: t("lastDays", { n }) }))}
          chosen={days}
          choose={(value) => world.openPane("usage", value)}
        />
        <Choice
          label={t("measure")}
          options={[
            { value: "cost", label: t("cost") },
            { value: "tokens", label: t("tokens") },
          ]}
          chosen={measure}
          choose={setMeasure}
        />
      </div>
      <WhenLoaded loaded={usage}>
        {(report) => <Used report={report} measure={measure} jobOf={(id) => titles.get(id) ?? id} />}
      </WhenLoaded>
    </>
  );
}

function Used({
  report,
  measure,
  jobOf,
}: {
  readonly report: Report;
  readonly measure: Measure;
  readonly jobOf: (id: string) => string;
}) {
  const { days, models, channels, senders, jobs, total, budgets } = report;
  if (total.calls + total.turns === 0)
    return (
      <>
        <p class="muted">{t("nothing")}</p>
        <BudgetBars budgets={budgets} nameOf={(scope, subject) => budgetName(scope, subject, jobOf)} />
      </>
    );
  const common = { measure };
  return (
    <>
      <dl class="usage-sums">
        <Sum label={t("cost")} value={costText(total)} />
        <Sum label={t("tokens")} value={tokensText(total.tokens)} />
        <Sum label={t("messages")} value={numberOf(total.turns)} />
        <Sum label={t("answers")} value={numberOf(total.calls)} />
      </dl>
      <Notes report={report} />
      <DayChart days={days} measure={measure} />
      <BudgetBars budgets={budgets} nameOf={(scope, subject) => budgetName(scope, subject, jobOf)} />
      <Shares {...common} title={t("models")} rows={models} nameOf={(name) => name} hasMessages={false} />
      <Shares {...common} title={t("channels")} rows={channels} nameOf={channelName} />
      <Shares {...common} title={t("people")} rows={senders} nameOf={personName} />
      <Shares {...common} title={t("jobs")} rows={jobs} nameOf={jobOf} />
      <p class="muted">{t("zone", { zone: report.timeZone })}</p>
    </>
  );
}

function Sum({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div class="usage-sum">
      <dt class="muted">{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** What the numbers do not hold. */
function Notes({ report: { total, models } }: { readonly report: Report }) {
  const unpriced = models.filter((model) => model.unpriced > 0).map(({ name }) => name);
  return (
    <>
      {total.unpriced === 0 ? undefined : (
        <p class="note warning">
          {t("unpriced", {
            n: numberOf(total.unpriced),
            calls: numberOf(total.calls),
            models: unpriced.join(", "),
          })}
        </p>
      )}
      {total.guessedTokens === 0 ? undefined : (
        <p class="note">{t("guessed", { n: tokensText(total.guessedTokens), cost: guessedCostText(total) })}</p>
      )}
    </>
  );
}

function channelName(name: string): string {
  if (name === jobsName) return t("jobs");
  if (name === restName) return t("rest");
  return name === "webui" ? t("thisPage") : name === "cli" ? t("terminal") : name;
}

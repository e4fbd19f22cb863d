import { recordsIn, textIn } from "../../gateway/api.js";
import { numberOf } from "../../parts/format.js";
import type { PaneProps } from "../list.js";
import { Section } from "../parts/controls.js";
import { type Loaded, useLoad } from "../parts/loading.js";
import type { AllSettings } from "../settings/all-settings.js";
import { nameIn } from "../settings/fields/words.js";
import { WithSettings } from "../settings/file-state.js";
import { SettingsForm } from "../settings/settings-form.js";
import { type SaveChanges, useSettings } from "../settings/use-settings.js";
import { costText, tokensText } from "../usage/amounts.js";
import { BudgetBar } from "../usage/budget-bars.js";
import { budgetName } from "../usage/names.js";
import { type Report, type Row, toReport } from "../usage/report.js";
import type { PaneWorld } from "../world.js";
import { budgetsWords } from "./words.js";

const { t } = budgetsWords;

const scopes = ["day", "sender", "job", "session", "turn", "spawn"] as const;
type Scope = (typeof scopes)[number];
/** Dollars are what people think in. */
const units = ["usd", "tokens", "turns"];

/** The limits, each beside what is used of it. */
export function BudgetsPane({ world }: PaneProps) {
  const settings = useSettings(world);
  // Beside the limits it is an extra: they can be set without it.
  const usage = useLoad(world, async () => toReport(await world.api.get("api/usage?days=31"), 31), []);
  const jobs = useLoad(world, async () => recordsIn((await world.api.get("api/cron")).jobs), []);
  const titles = new Map((jobs.value ?? []).map(({ id, title }) => [textIn(id), textIn(title)]));
  const save: SaveChanges = async (changes) => {
    await settings.save(changes);
    usage.reload();
  };
  return (
    <WithSettings settings={settings}>
      {(all) => (
        <>
          {usage.value === undefined ? undefined : <Spent report={usage.value} />}
          {scopes.map((scope) => (
            <ScopeCard
              key={scope}
              {...{ world, scope, all, save, usage }}
              nameOf={(subject) => budgetName(scope, subject, (id) => titles.get(id) ?? id)}
            />
          ))}
          <p>
            <button type="button" class="link" onClick={() => world.openPane("usage")}>
              {t("usage")}
            </button>
          </p>
        </>
      )}
    </WithSettings>
  );
}

function Spent({ report: { days, total } }: { readonly report: Report }) {
  const today = days.at(-1);
  if (today === undefined) return undefined;
  const month = days.filter(({ name }) => name.slice(0, 7) === today.name.slice(0, 7));
  return (
    <div class="note">
      <p>{t("today", sumOf([today]))}</p>
      <p>{t("month", sumOf(month))}</p>
      {total.unpriced > 0 ? <p>{t("noPrice")}</p> : undefined}
    </div>
  );
}

function sumOf(rows: readonly Row[]) {
  const sum = (of: (row: Row) => number): number => rows.reduce((all, row) => all + of(row), 0);
  const total = {
    cost: sum(({ cost }) => cost),
    calls: sum(({ calls }) => calls),
    unpriced: sum(({ unpriced }) => unpriced),
  };
  return {
    cost: costText(total),
    tokens: tokensText(sum(({ tokens }) => tokens)),
    messages: numberOf(sum(({ turns }) => turns)),
  };
}

function ScopeCard({
  world,
  scope,
  all,
  save,
  usage,
  nameOf,
}: {
  readonly world: PaneWorld;
  readonly scope: Scope;
  readonly all: AllSettings;
  readonly save: SaveChanges;
  readonly usage: Loaded<Report>;
  readonly nameOf: (subject: string) => string;
}) {
  const group = `budgets.${scope}`;
  const settings = units.flatMap((unit) => all.settings.filter(({ name }) => name === `${group}.${unit}`));
  const used = (usage.value?.budgets ?? []).filter((budget) => budget.scope === scope);
  return (
    <Section title={t(scope)} about={t(`${scope}About`)}>
      {used.length === 0 ? undefined : (
        <ul class="cards" aria-label={t("todayOf")}>
          {used.map((budget) => (
            <BudgetBar
              key={`${budget.subject} ${budget.unit}`}
              budget={budget}
              name={
                scope === "day"
                  ? nameIn("unit", budget.unit === "turns" ? "messages" : budget.unit)
                  : nameOf(budget.subject)
              }
            />
          ))}
        </ul>
      )}
      <div class="card budget-form">
        <SettingsForm world={world} all={all} settings={settings} save={save} />
      </div>
    </Section>
  );
}

import { costOf, momentOf, numberOf } from "../../parts/format.js";
import { Section } from "../parts/controls.js";
import type { Budget } from "./report.js";
import { usageWords } from "./words.js";

/** What of each budget of today is used, what is left, and when it starts again. */
export function BudgetBars({
  budgets,
  nameOf,
}: {
  readonly budgets: readonly Budget[];
  readonly nameOf: (scope: string, subject: string) => string;
}) {
  const { t } = usageWords;
  return (
    <Section title={t("budgets")}>
      {budgets.length === 0 ? (
        <p class="muted">{t("noBudgets")}</p>
      ) : (
        <ul class="cards">
          {budgets.map((budget) => (
            <BudgetBar
              key={`${budget.scope} ${budget.subject} ${budget.unit}`}
              budget={budget}
              name={nameOf(budget.scope, budget.subject)}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

/** One budget of today. */
export function BudgetBar({ budget, name }: { readonly budget: Budget; readonly name: string }) {
  const { t } = usageWords;
  const { unit, used, limit, startsAgainAt } = budget;
  const counted = (value: number) => (unit === "turns" ? (value === 1 ? "messageOf" : "messagesOf") : "tokensOf");
  const amount = (value: number): string =>
    unit === "usd" ? costOf(value) : t(counted(value), { n: numberOf(value) });
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  const text = t("usedOf", { used: amount(used), limit: amount(limit) });
  const left = used >= limit ? t("usedUp") : t("left", { amount: amount(limit - used) });
  const state = share >= 1 ? "full" : share >= 0.8 ? "nearly" : "";
  return (
    <li class="card">
      <h3>{name}</h3>
      <meter class="off-screen" aria-label={name} aria-valuetext={text} max={1} value={share} />
      <div class={`usage-budget ${state}`} aria-hidden="true">
        <div class="usage-fill" style={{ width: `${share * 100}%` }} />
      </div>
      <p class="card-line">
        <span>{text}</span>
        <strong class={state === "full" ? "problem-text" : ""}>{left}</strong>
        {startsAgainAt === "" ? undefined : (
          <span class="muted">{t("startsAgain", { at: momentOf(new Date(startsAgainAt)) })}</span>
        )}
      </p>
    </li>
  );
}

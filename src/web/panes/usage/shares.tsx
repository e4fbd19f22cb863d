import { numberOf } from "../../parts/format.js";
import { Section } from "../parts/controls.js";
import { costText, type Measure, sizeOf, tokensText } from "./amounts.js";
import type { Row } from "./report.js";
import { usageWords } from "./words.js";

/** Who or what has used how much, the most first. */
export function Shares({
  title,
  rows,
  measure,
  nameOf,
  hasMessages = true,
}: {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly measure: Measure;
  readonly nameOf: (name: string) => string;
  /** A message may have asked several models. */
  readonly hasMessages?: boolean;
}) {
  if (rows.length === 0) return undefined;
  const { t } = usageWords;
  const most = Math.max(...rows.map((row) => sizeOf(row, measure)));
  const sorted = [...rows].sort((a, b) => sizeOf(b, measure) - sizeOf(a, measure));
  return (
    <Section title={title}>
      <table class="usage-shares">
        <thead>
          <tr>
            <th scope="col">
              <span class="off-screen">{title}</span>
            </th>
            <th scope="col" class="number wide">
              {hasMessages ? t("messages") : t("answers")}
            </th>
            <th scope="col" class="number">
              {t("tokens")}
            </th>
            <th scope="col" class="number">
              {t("cost")}
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={row.name}>
              <th scope="row">
                <span>{nameOf(row.name)}</span>
                <span class="usage-share" aria-hidden="true">
                  <span
                    class="usage-fill"
                    style={{ width: `${most === 0 ? 0 : (sizeOf(row, measure) / most) * 100}%` }}
                  />
                </span>
              </th>
              <td class="number wide">{numberOf(hasMessages ? row.turns : row.calls)}</td>
              <td class="number">{tokensText(row.tokens)}</td>
              <td class="number">{costText(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

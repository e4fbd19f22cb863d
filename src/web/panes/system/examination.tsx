import { useState } from "preact/hooks";
import { isRecord } from "../../../client/frames.js";
import { loadFindingWords, ownProblem, problemText } from "../../failures/said.js";
import { type JsonObject, recordsIn, textIn } from "../../gateway/api.js";
import { numberOf } from "../../parts/format.js";
import { Action, Section } from "../parts/controls.js";
import type { PaneWorld } from "../world.js";
import { numberIn } from "./amounts.js";
import { systemWords } from "./words.js";

const { t } = systemWords;
/** Services elsewhere are asked, and all conversations are looked through. */
const limitMs = 180_000;

/** What the doctor finds, when somebody asks. */
export function Examination({ world }: { readonly world: PaneWorld }) {
  const [report, setReport] = useState<JsonObject>();
  const examine = async (): Promise<void> => {
    const [found] = await Promise.all([world.api.post("api/doctor", {}, { timeoutMs: limitMs }), loadFindingWords()]);
    setReport(found);
    world.announce(summaryOf(found));
  };
  return (
    <Section title={t("doctor")} about={t("doctorAbout")}>
      <p>
        <Action run={examine} kind="primary">
          {t("examine")}
        </Action>
      </p>
      {report === undefined ? undefined : <Report report={report} />}
    </Section>
  );
}

function Report({ report }: { readonly report: JsonObject }) {
  const security = isRecord(report.security) ? report.security : {};
  return (
    <>
      <Findings findings={recordsIn(report.findings)} />
      <h3 class="system-score">{t("score", { score: numberOf(numberIn(security.score)) })}</h3>
      <p class="muted">{t("scoreAbout")}</p>
      <Findings findings={recordsIn(security.findings)} />
    </>
  );
}

function summaryOf(report: JsonObject): string {
  const security = isRecord(report.security) ? report.security : {};
  return t("score", { score: numberOf(numberIn(security.score)) });
}

/** What is wrong is open; what is fine is behind a line. */
function Findings({ findings }: { readonly findings: readonly JsonObject[] }) {
  const fine = findings.filter(({ level }) => level === "ok");
  const others = [
    ...findings.filter(({ level }) => level === "fail"),
    ...findings.filter(({ level }) => level === "warn"),
  ];
  const n = numberOf(fine.length);
  return (
    <>
      {others.length === 0 ? (
        <p class="note">{t("allWell", { n })}</p>
      ) : (
        <ul class="cards">
          {others.map((finding) => (
            <Finding key={`${textIn(finding.check)} ${textIn(finding.found)}`} finding={finding} />
          ))}
        </ul>
      )}
      {fine.length === 0 ? undefined : (
        <details class="system-fine">
          <summary>{t("fine", { n })}</summary>
          <ul>
            {fine.map(({ check, found }) => (
              <li key={`${textIn(check)} ${textIn(found)}`}>
                <strong>{checkName(textIn(check))}</strong> <Said text={textIn(found)} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Finding({ finding }: { readonly finding: JsonObject }) {
  const { check, level, found, todo } = finding;
  const isWrong = level === "fail";
  return (
    <li class="card">
      <h3 class="card-line">
        {checkName(textIn(check))}{" "}
        <span class={`system-mark ${isWrong ? "bad" : "odd"}`}>{t(isWrong ? "fail" : "warn")}</span>
      </h3>
      <p>
        <Said text={textIn(found)} />
      </p>
      {textIn(todo) === "" ? undefined : <p class="muted">{t("todo", { todo: problemText(textIn(todo)) })}</p>}
    </li>
  );
}

/** In English where the page has no words of its own for it. */
function Said({ text }: { readonly text: string }) {
  const own = ownProblem(text);
  return own === undefined ? <span lang="en">{text}</span> : <span>{own}</span>;
}

function checkName(check: string): string {
  const key = `check_${check}`;
  return isCheck(key) ? t(key) : check;
}

function isCheck(key: string): key is `check_${string}` & keyof typeof systemWords.en {
  return Object.hasOwn(systemWords.en, key);
}

import { Choice } from "../parts/choice.js";
import { Field } from "../parts/controls.js";
import { fieldsOf, type Times, type Unit } from "./times.js";
import { dayName } from "./times-text.js";
import { jobsWords } from "./words.js";

const { t } = jobsWords;

interface TimesFieldProps {
  readonly times: Times;
  readonly set: (times: Times) => void;
}

/** When a job runs: in words, or as the five fields of cron. */
export function TimesField({ times, set }: TimesFieldProps) {
  const kinds = [
    { value: "days", label: t("byDays") },
    { value: "month", label: t("byMonth") },
    { value: "every", label: t("bySpan") },
    { value: "once", label: t("once") },
    { value: "cron", label: t("asCron") },
  ] as const;
  return (
    <fieldset class="times">
      <legend>{t("when")}</legend>
      <Choice
        label={t("when")}
        options={kinds}
        chosen={times.kind}
        choose={(kind) => kind !== times.kind && set(begun(kind, times))}
      />
      <Details times={times} set={set} />
    </fieldset>
  );
}

/** The time of day, and what was written as cron, stay from one kind to the next. */
function begun(kind: Times["kind"], before: Times): Times {
  const time = "time" in before ? before.time : "09:00";
  switch (kind) {
    case "days":
      return { kind, time, days: [] };
    case "month":
      return { kind, time, day: 1 };
    case "every":
      return { kind, amount: 1, unit: "h" };
    case "once":
      return { kind, at: "" };
    case "cron":
      return { kind, expression: "time" in before ? fieldsOf(before) : "0 9 * * *" };
  }
}

function Details({ times, set }: TimesFieldProps) {
  switch (times.kind) {
    case "days":
      return (
        <>
          <Days days={times.days} set={(days) => set({ ...times, days })} />
          <TimeOfDay time={times.time} set={(time) => set({ ...times, time })} />
        </>
      );
    case "month":
      return (
        <>
          <Whole label={t("dayOfMonth")} value={times.day} most={31} set={(day) => set({ ...times, day })} />
          <TimeOfDay time={times.time} set={(time) => set({ ...times, time })} />
        </>
      );
    case "every":
      return <Span amount={times.amount} unit={times.unit} set={(span) => set({ ...times, ...span })} />;
    case "once":
      return <Moment at={times.at} set={(at) => set({ ...times, at })} />;
    case "cron":
      return (
        <Field label={t("fields")} hint={t("fieldsHint")}>
          {(ids) => (
            <input
              {...ids}
              type="text"
              value={times.expression}
              spellcheck={false}
              onInput={({ currentTarget }) => set({ ...times, expression: currentTarget.value })}
            />
          )}
        </Field>
      );
  }
}

function Days({ days, set }: { readonly days: readonly number[]; readonly set: (days: readonly number[]) => void }) {
  const change = (day: number, isIn: boolean): void =>
    set(isIn ? [...days, day].sort((a, b) => a - b) : days.filter((one) => one !== day));
  return (
    <fieldset class="days">
      <legend>{t("days")}</legend>
      {[1, 2, 3, 4, 5, 6, 0].map((day) => (
        <label key={day} class="day">
          <input
            type="checkbox"
            checked={days.includes(day)}
            onChange={({ currentTarget }) => change(day, currentTarget.checked)}
          />
          <span>{dayName(day, "short")}</span>
        </label>
      ))}
      <p class="field-hint">{t("daysHint")}</p>
    </fieldset>
  );
}

function TimeOfDay({ time, set }: { readonly time: string; readonly set: (time: string) => void }) {
  const change = (text: string): void => {
    if (/^\d\d:\d\d/.test(text)) set(text.slice(0, 5));
  };
  return (
    <Field label={t("time")}>
      {(ids) => (
        <input {...ids} type="time" value={time} onInput={({ currentTarget }) => change(currentTarget.value)} />
      )}
    </Field>
  );
}

interface WholeProps {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  readonly set: (value: number) => void;
}

function Whole({ label, value, most, set }: WholeProps) {
  const change = (text: string): void => {
    const typed = Number(text);
    if (Number.isInteger(typed) && typed >= 1 && typed <= most) set(typed);
  };
  return (
    <Field label={label}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          min={1}
          max={most}
          value={value}
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SpanProps {
  readonly amount: number;
  readonly unit: Unit;
  readonly set: (span: { readonly amount: number; readonly unit: Unit }) => void;
}

function Span({ amount, unit, set }: SpanProps) {
  const units = [
    ["m", t("minutes")],
    ["h", t("hours")],
    ["d", t("wholeDays")],
  ] as const;
  return (
    <>
      <Whole label={t("amount")} value={amount} most={10_000} set={(next) => set({ amount: next, unit })} />
      <Field label={t("unit")}>
        {(ids) => (
          <select
            {...ids}
            value={unit}
            onChange={({ currentTarget }) =>
              set({ amount, unit: units.find(([one]) => one === currentTarget.value)?.[0] ?? "h" })
            }
          >
            {units.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
    </>
  );
}

function Moment({ at, set }: { readonly at: string; readonly set: (at: string) => void }) {
  return (
    <Field label={t("moment")}>
      {(ids) => (
        <input
          {...ids}
          type="datetime-local"
          value={localOf(at)}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** `2026-11-23T09:00`, by the clock of the browser. */
function localOf(at: string): string {
  const date = new Date(at);
  if (at === "" || Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

import { useId } from "preact/hooks";
import type { Setting } from "../all-settings.js";
import { defaultOf, hasStars, kindOf, optionsIn, textOf } from "./field-kind.js";
import { fieldWords, nameIn } from "./words.js";

const { t } = fieldWords;

export interface SettingFieldProps {
  readonly setting: Setting;
  /** What is in the field now. */
  readonly text: string;
  readonly isChanged: boolean;
  /** Its file cannot be written. */
  readonly isFixed: boolean;
  readonly isDue: boolean;
  readonly problem: string | undefined;
  readonly set: (text: string) => void;
  /** Takes it out of the file. */
  readonly reset: () => void;
}

interface Ids {
  readonly id: string;
  readonly "aria-describedby": string;
}

/** One setting: its control, what it means, where its value comes from, and when a change counts. */
export function SettingField(props: SettingFieldProps) {
  const { setting, isChanged, isFixed, problem, reset, text } = props;
  const { label, meaning, name } = setting;
  const id = useId();
  const kind = kindOf(setting);
  const isOff = isFixed || setting.locked !== undefined;
  const isWritten = setting.value !== undefined;
  const ids: Ids = { id, "aria-describedby": `${id}-about` };
  return (
    <div class={isChanged ? "setting field changed" : "setting field"}>
      <div class="setting-head">
        <label for={id}>{label}</label>
        <span class="setting-source">{isChanged ? t("changed") : sourceText(setting)}</span>
        {isWritten && !isOff ? (
          <button type="button" class="link setting-reset" onClick={reset} aria-label={t("resetOf", { name: label })}>
            {t("reset")}
          </button>
        ) : undefined}
      </div>
      <Control {...props} kind={kind} ids={ids} isOff={isOff} text={text} />
      <div id={`${id}-about`} class="setting-about">
        {isSaid(meaning, label) ? undefined : (
          <p>
            <Prose text={meaning} />
          </p>
        )}
        <p class="field-hint">
          {[...(isChanged ? savedHints(setting) : []), ...hintsOf(setting, props.isDue)].join(" ")}{" "}
          <code title={t("inTheFile")}>{name}</code>
        </p>
        {problem === undefined ? undefined : (
          <p class="problem-text" role="alert">
            {problem}
          </p>
        )}
      </div>
    </div>
  );
}

/** Nothing is said twice. */
function isSaid(meaning: string, label: string): boolean {
  return meaning.replace(/[.。]$/, "") === label;
}

function Control({
  setting,
  kind,
  ids,
  isOff,
  text,
  set,
}: SettingFieldProps & { readonly kind: string; readonly ids: Ids; readonly isOff: boolean }) {
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }): void =>
    set(currentTarget.value);
  const { schema } = setting;
  const unit = typeof schema.unit === "string" ? nameIn("unit", schema.unit) : undefined;
  const own = { ...ids, disabled: isOff, autocomplete: "off", spellcheck: false };
  switch (kind) {
    case "switch":
      return (
        // A label of its own: a thumb meets the word beside it too.
        <label class="switch" for={ids.id}>
          <input
            {...ids}
            type="checkbox"
            role="switch"
            disabled={isOff}
            checked={text === "true"}
            aria-checked={text === "true"}
            onChange={({ currentTarget }) => set(String(currentTarget.checked))}
          />
          <span aria-hidden="true">{t(text === "true" ? "on" : "off")}</span>
        </label>
      );
    case "choice":
      return (
        <select {...ids} disabled={isOff} value={text} onChange={({ currentTarget }) => set(currentTarget.value)}>
          <option value="">
            {defaultOf(setting) === "" ? t("usual") : t("usualIs", { value: defaultOf(setting) })}
          </option>
          {optionsIn(schema).map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      );
    case "list":
    case "map":
    case "json":
      return (
        <textarea {...own} rows={Math.min(12, Math.max(2, text.split("\n").length))} value={text} onInput={onInput} />
      );
    case "secret":
      return <input {...own} autocomplete="new-password" type="password" value={text} onInput={onInput} />;
    default:
      return (
        <span class="setting-line">
          <input
            {...own}
            type="text"
            inputMode={kind === "number" ? "decimal" : undefined}
            class={kind === "number" ? "setting-number" : undefined}
            placeholder={defaultOf(setting)}
            value={text}
            onInput={onInput}
          />
          {unit === undefined ? undefined : <span class="muted">{unit}</span>}
        </span>
      );
  }
}

function sourceText({ source, value, variables }: Setting): string {
  if (source === "environment") return t("inEnvironment", { name: variables[0]?.name ?? "" });
  return value === undefined ? t("isDefault") : t("inFile");
}

/** Somebody else may have changed it while this was typed. */
function savedHints(setting: Setting): readonly string[] {
  const saved = textOf(setting);
  const isShort = saved !== "" && saved.length <= 80 && !saved.includes("\n");
  return isShort && kindOf(setting) !== "secret" ? [t("savedNowIs", { value: saved })] : [];
}

function hintsOf(setting: Setting, isDue: boolean): readonly string[] {
  const { source, value, variables, locked, effect, isSecret } = setting;
  const kind = kindOf(setting);
  const usual = defaultOf(setting);
  const hints: string[] = [];
  if (kind === "secret") hints.push(t(value === undefined || value === "" ? "secretNone" : "secretSet"));
  else hints.push(usual === "" ? t("noDefault") : t("default", { value: usual }));
  if (kind === "list") hints.push(t("lines"));
  if (kind === "map") hints.push(t("pairs"));
  if (kind === "json") hints.push(t("asText"));
  if (kind !== "secret" && (isSecret || hasStars(value))) hints.push(t("stars"));
  if (locked === undefined) hints.push(t(isDue ? "waiting" : effect === "now" ? "now" : "afterRestart"));
  else hints.push(t(locked === "token" ? "lockedToken" : "lockedFile"));
  if (source === "environment" && value !== undefined) hints.push(t("wins", { name: variables[0]?.name ?? "" }));
  if (source === "file")
    for (const { name, from } of variables)
      hints.push(
        t(from === "environment" ? "variableFrom" : from === "nowhere" ? "variableNowhere" : "variableSecrets", {
          name,
        }),
      );
  return hints;
}

/** A sentence whose names of values are in backticks. */
export function Prose({ text }: { readonly text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

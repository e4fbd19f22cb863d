import { useEffect, useRef, useState } from "preact/hooks";
import { sentenceOf } from "../../failures/said.js";
import { Action } from "../parts/controls.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import { type AllSettings, type Change, problemOf, type Setting } from "./all-settings.js";
import { changeOf, textOf } from "./fields/field-kind.js";
import { SettingField } from "./fields/setting-field.js";
import { fieldWords } from "./fields/words.js";
import { inWords } from "./labels.js";
import type { SaveChanges } from "./use-settings.js";

const { t } = fieldWords;

export interface SettingsFormProps {
  readonly world: PaneWorld;
  readonly all: AllSettings;
  readonly settings: readonly Setting[];
  readonly save: SaveChanges;
}

type Texts = Readonly<Record<string, string>>;

/** Settings that are saved together, each with its own mistake. */
export function SettingsForm({ world, all, settings, save }: SettingsFormProps) {
  const [typed, setTyped] = useState<Texts>({});
  const [problems, setProblems] = useState<Texts>({});
  const [said, setSaid] = useState("");
  const result = useRef<HTMLParagraphElement>(null);
  const form = useRef<HTMLDivElement>(null);
  const changed = settings.filter((setting) => isChanged(setting, typed[setting.name]));
  useUnsaved(world, changed.length > 0);
  const write = async (changes: readonly Change[]): Promise<void> => {
    const names = changes.map(({ path }) => path.join("."));
    const isNow = settings.every(({ name, effect }) => !names.includes(name) || effect === "now");
    try {
      await save(changes);
    } catch (error) {
      const about = settings.find(({ name }) => names.includes(name) && sentenceOf(error).includes(name));
      if (about === undefined) {
        showChanged(form.current, "center");
        throw error;
      }
      setProblems({ [about.name]: inWords(about, sentenceOf(error)) });
      return;
    }
    // What was typed while it was being saved stays.
    setTyped((now) => without(now, names, typed));
    setProblems({});
    setSaid(t(isNow ? "savedNow" : "savedRestart"));
    // The button that was pressed is gone.
    result.current?.focus();
  };
  const saveAll = async (): Promise<void> => {
    const changes: Change[] = [];
    const wrong: Record<string, string> = {};
    for (const setting of changed) {
      try {
        changes.push(changeOf(setting, typed[setting.name] ?? ""));
      } catch (error) {
        wrong[setting.name] = sentenceOf(error);
      }
    }
    setProblems(wrong);
    if (Object.keys(wrong).length === 0) await write(changes);
  };
  const reset = (setting: Setting): void => {
    write([{ path: setting.path }]).catch((error: unknown) => setProblems({ [setting.name]: sentenceOf(error) }));
  };
  const type = (name: string, text: string): void => {
    setTyped((now) => ({ ...now, [name]: text }));
    setProblems((now) => without(now, [name]));
    setSaid("");
  };
  const discard = (): void => {
    setTyped({});
    setProblems({});
  };
  return (
    <div class="settings-form" ref={form}>
      {settings.map((setting) => (
        <SettingField
          key={setting.name}
          setting={setting}
          text={typed[setting.name] ?? textOf(setting)}
          isChanged={changed.includes(setting)}
          isFixed={all.file.isReadOnly}
          isDue={all.restart.some((name) => name === setting.name || name.startsWith(`${setting.name}.`))}
          problem={problems[setting.name] ?? problemOf(setting, all)}
          set={(text) => type(setting.name, text)}
          reset={() => reset(setting)}
        />
      ))}
      <p class="good-text" role="status" tabIndex={-1} ref={result}>
        {said}
      </p>
      {changed.length === 0 ? undefined : <SaveBar count={changed.length} save={saveAll} discard={discard} />}
    </div>
  );
}

function SaveBar({
  count,
  save,
  discard,
}: {
  readonly count: number;
  readonly save: () => Promise<void>;
  readonly discard: () => void;
}) {
  const bar = useRef<HTMLDivElement>(null);
  // It may have come over what somebody types at the end of the page.
  useEffect(() => showChanged(bar.current?.parentElement, "nearest"), []);
  return (
    <div class="card-line settings-save" ref={bar}>
      <Action kind="primary" run={save}>
        {count === 1 ? t("save") : t("saveSome", { n: count })}
      </Action>
      <button type="button" class="button quiet" onClick={discard}>
        {t("discard")}
      </button>
    </div>
  );
}

/** Clear of the bar, once that is drawn: what is said in it makes it higher. */
function showChanged(form: HTMLElement | null | undefined, block: ScrollLogicalPosition): void {
  requestAnimationFrame(() => form?.querySelector(".setting.changed")?.scrollIntoView({ block }));
}

function isChanged(setting: Setting, text: string | undefined): boolean {
  return text !== undefined && text !== textOf(setting);
}

/** Without those of `names` that are still as they were in `before`. */
function without(texts: Texts, names: readonly string[], before = texts): Texts {
  return Object.fromEntries(
    Object.entries(texts).filter(([name, text]) => !names.includes(name) || text !== before[name]),
  );
}

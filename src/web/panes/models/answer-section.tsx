import { useState } from "preact/hooks";
import { Action, Section } from "../parts/controls.js";
import type { PaneWorld } from "../world.js";
import { ModelPicker } from "./model-picker.js";
import { type Choice, type Model, saveChoice } from "./providers.js";
import { modelsWords } from "./words.js";

interface AnswerSectionProps {
  readonly world: PaneWorld;
  readonly choice: Choice;
  readonly models: ReadonlyMap<string, readonly Model[]>;
  readonly onChanged: () => void;
}

/** The model that answers, and those that are asked when it does not. */
export function AnswerSection({ world, choice, models, onChanged }: AnswerSectionProps) {
  const { t } = modelsWords;
  const [isOpen, setOpen] = useState(false);
  const [said, setSaid] = useState("");
  const use = async (model: string): Promise<void> => {
    await saveChoice(world.api, { model });
    setOpen(false);
    setSaid(t("chosen", { model }));
    onChanged();
  };
  const isChosen = choice.model !== "";
  return (
    <>
      <Section title={t("answers")}>
        <div class="card">
          {isChosen ? <h3>{choice.model}</h3> : <p>{models.size === 0 ? t("noProvider") : t("noModel")}</p>}
          <p role="status" class="muted">
            {said}
          </p>
          {models.size === 0 ? undefined : (
            <div class="card-line">
              <button type="button" class="button quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                {isChosen ? t("change") : t("choose")}
              </button>
            </div>
          )}
          {isOpen ? <ModelPicker models={models} current={choice.model} action={t("useIt")} use={use} /> : undefined}
        </div>
      </Section>
      {isChosen ? <Fallbacks world={world} choice={choice} models={models} onChanged={onChanged} /> : undefined}
    </>
  );
}

function Fallbacks({ world, choice: { fallbacks, model }, models, onChanged }: AnswerSectionProps) {
  const { t } = modelsWords;
  const [isOpen, setOpen] = useState(false);
  const save = async (next: readonly string[]): Promise<void> => {
    await saveChoice(world.api, { fallbacks: next });
    setOpen(false);
    onChanged();
  };
  const add = async (label: string): Promise<void> => {
    if (label !== model) await save([...fallbacks.filter((one) => one !== label), label]);
  };
  return (
    <Section title={t("fallbacks")} about={t("fallbacksAbout")}>
      <div class="card">
        {fallbacks.length === 0 ? <p class="muted">{t("noFallbacks")}</p> : undefined}
        <ol class="ordered">
          {fallbacks.map((label) => (
            <li class="card-line" key={label}>
              <span>{label}</span>
              <Action run={() => save(fallbacks.filter((one) => one !== label))}>
                {t("removeFrom", { name: label })}
              </Action>
            </li>
          ))}
        </ol>
        <div class="card-line">
          <button type="button" class="button quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {t("addFallback")}
          </button>
        </div>
        {isOpen ? <ModelPicker models={models} current="" action={t("addFallback")} use={add} /> : undefined}
      </div>
    </Section>
  );
}

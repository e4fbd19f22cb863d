import { useState } from "preact/hooks";
import { sentenceOf } from "../../failures/said.js";
import { Action } from "../parts/controls.js";
import { FormOpener } from "../parts/form-opener.js";
import type { PaneWorld } from "../world.js";
import { ProviderForm } from "./provider-form.js";
import { type Choice, type Model, modelsOf, type Provider, removeProvider } from "./providers.js";
import type { Answer } from "./use-answers.js";
import { modelsWords } from "./words.js";

interface ProviderCardProps {
  readonly world: PaneWorld;
  readonly provider: Provider;
  readonly answer: Answer | undefined;
  readonly choice: Choice;
  readonly onTested: (models: readonly Model[]) => void;
  readonly onChanged: () => void;
}

/** A provider that is set up: how it is, and what can be done about it. */
export function ProviderCard({ world, provider, answer, choice, onTested, onChanged }: ProviderCardProps) {
  const { t } = modelsWords;
  const { name, apiBase } = provider;
  const [isOpen, setOpen] = useState(false);
  const [tested, setTested] = useState("");
  const test = async (): Promise<void> => {
    setTested("");
    const models = await modelsOf(world.api, { name, apiKey: "", apiBase: "" });
    setTested(t("tested", { name, n: models.length }));
    onTested(models);
  };
  const remove = async (): Promise<void> => {
    const isInUse = choice.model.startsWith(`${name}/`);
    const text = [isInUse ? t("removeInUse", { model: choice.model, name }) : "", t("removeText")].join(" ").trim();
    const title = t("removeTitle", { name });
    if ((await world.ask({ title, text, action: t("remove"), isDangerous: true })) === undefined) return;
    await removeProvider(world.api, name);
    onChanged();
  };
  const saved = (_: string, models: readonly Model[]): void => {
    setOpen(false);
    onTested(models);
    onChanged();
  };
  return (
    <li class="card" aria-label={name}>
      <h3>{name}</h3>
      <p class="muted">{apiBase}</p>
      <Health provider={provider} answer={answer} />
      <div class="card-line">
        <Action run={test}>{t("test")}</Action>
        <FormOpener world={world} isOpen={isOpen} press={() => setOpen(!isOpen)}>
          {t("edit")}
        </FormOpener>
        <Action run={remove} kind="danger">
          {t("remove")}
        </Action>
      </div>
      <p role="status" class="muted">
        {tested}
      </p>
      {isOpen ? <ProviderForm world={world} known={[provider]} only={provider} onSaved={saved} /> : undefined}
    </li>
  );
}

function Health({
  provider: { name, hasKey, isLocal, isConfigured },
  answer,
}: Pick<ProviderCardProps, "provider" | "answer">) {
  const { t, count } = modelsWords;
  if (answer === undefined) return <p class="muted">{t("asking", { name })}</p>;
  if (answer.models !== undefined) return <p class="good-text">{count(answer.models.length, "worksOne", "works")}</p>;
  const text =
    isConfigured && !hasKey && !isLocal && answer.error === undefined ? t("noKey") : sentenceOf(answer.error);
  return <p class="problem-text">{text}</p>;
}

import { useState } from "preact/hooks";
import type { PaneProps } from "../list.js";
import { Section } from "../parts/controls.js";
import { FormOpener } from "../parts/form-opener.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import { readSettings } from "../setup/settings.js";
import type { PaneWorld } from "../world.js";
import { AnswerSection } from "./answer-section.js";
import { ProviderCard } from "./provider-card.js";
import { ProviderForm } from "./provider-form.js";
import { type Choice, choiceIn, type Model, type Provider, readProviders } from "./providers.js";
import { useAnswers } from "./use-answers.js";
import { modelsWords } from "./words.js";

/** Who may be asked, and whose model answers. */
export function ModelsPane({ world }: PaneProps) {
  const { api } = world;
  const loaded = useLoad(world, async () => {
    const [{ config }, providers] = await Promise.all([readSettings(api), readProviders(api)]);
    return { choice: choiceIn(config), providers };
  }, []);
  const changed = (): void => {
    loaded.reload();
    world.refreshStatus();
  };
  return <WhenLoaded loaded={loaded}>{(known) => <Models {...known} world={world} onChanged={changed} />}</WhenLoaded>;
}

function Models({
  world,
  choice,
  providers,
  onChanged,
}: {
  readonly world: PaneWorld;
  readonly choice: Choice;
  readonly providers: readonly Provider[];
  readonly onChanged: () => void;
}) {
  const { t } = modelsWords;
  const present = providers.filter(({ isConfigured }) => isConfigured);
  const { answers, put } = useAnswers(
    world.api,
    present.map(({ name }) => name),
  );
  const [isAdding, setAdding] = useState(false);
  const models = new Map<string, readonly Model[]>();
  for (const { name } of present) models.set(name, answers.get(name)?.models ?? []);
  const added = (name: string, list: readonly Model[]): void => {
    put(name, { models: list });
    setAdding(false);
    onChanged();
  };
  return (
    <>
      <AnswerSection world={world} choice={choice} models={models} onChanged={onChanged} />
      <Section title={t("providers")} about={t("providersAbout")}>
        <ul class="cards">
          {present.map((provider) => (
            <ProviderCard
              key={provider.name}
              world={world}
              provider={provider}
              answer={answers.get(provider.name)}
              choice={choice}
              onTested={(list) => put(provider.name, { models: list })}
              onChanged={onChanged}
            />
          ))}
        </ul>
        <FormOpener world={world} isOpen={isAdding} press={() => setAdding(!isAdding)} isBelow>
          {t("add")}
        </FormOpener>
        {isAdding ? (
          <div class="card">
            <ProviderForm world={world} known={providers} onSaved={added} />
          </div>
        ) : undefined}
      </Section>
    </>
  );
}

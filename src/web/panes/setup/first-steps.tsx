import { render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ChannelForm } from "../channels/channel-form.js";
import { readChannels, sectionIn } from "../channels/channels.js";
import { OwnerCode } from "../channels/owner-code.js";
import { ModelPicker } from "../models/model-picker.js";
import { ProviderForm } from "../models/provider-form.js";
import { type Model, type Provider, readProviders, saveChoice } from "../models/providers.js";
import { modelsWords } from "../models/words.js";
import { useKnown } from "../parts/known.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { setupWords } from "./words.js";

interface StepsProps {
  readonly world: PaneWorld;
  /** Everything is set up, or is to wait. */
  readonly onEnd: () => void;
}

/** Draws the first steps into `element`, in place of the empty chat, once the first has what it shows. The result takes them away. */
export async function showFirstSteps(element: HTMLElement, props: StepsProps): Promise<() => void> {
  // What went wrong is said where the providers would be.
  const known = await readProviders(props.world.api).catch(() => undefined);
  render(<FirstSteps {...props} known={known} />, element);
  return () => render(null, element);
}

type Step =
  | { readonly at: "provider" }
  | { readonly at: "model"; readonly provider: string; readonly models: readonly Model[] }
  | { readonly at: "channel"; readonly model: string };

const order: readonly Step["at"][] = ["provider", "model", "channel"];

function FirstSteps({ world, known, onEnd }: StepsProps & { readonly known: readonly Provider[] | undefined }) {
  const { t } = setupWords;
  const [step, setStep] = useState<Step>({ at: "provider" });
  const use = async (model: string): Promise<void> => {
    await saveChoice(world.api, { model });
    world.refreshStatus();
    setStep({ at: "channel", model });
  };
  const section = useFocusAt(step.at);
  const isBegun = useRef(false);
  const begin = (): void => {
    isBegun.current = true;
  };
  // A model that was set up elsewhere ends what nobody has begun here.
  const status = useKnown(world.store, "status");
  useEffect(() => {
    if (status?.needsModel === false && !isBegun.current) onEnd();
  }, [status]);
  return (
    <section class="first-steps" aria-label={t("title")} tabIndex={-1} ref={section} onInput={begin}>
      <p class="muted">{t("step", { n: order.indexOf(step.at) + 1 })}</p>
      {step.at === "provider" ? (
        <ProviderStep
          world={world}
          first={known}
          onSaved={(provider, models) => setStep({ at: "model", provider, models })}
        />
      ) : step.at === "model" ? (
        <>
          <h2>{t("modelTitle")}</h2>
          <p class="muted">{t("modelAbout")}</p>
          <ModelPicker
            models={new Map([[step.provider, step.models]])}
            current=""
            action={modelsWords.t("useIt")}
            use={use}
          />
          <button type="button" class="link" onClick={() => setStep({ at: "provider" })}>
            {t("back")}
          </button>
        </>
      ) : (
        <ChannelStep world={world} model={step.model} onEnd={onEnd} />
      )}
      {step.at === "channel" ? undefined : (
        <button type="button" class="link" onClick={onEnd}>
          {t("skip")}
        </button>
      )}
    </section>
  );
}

/** The button that was pressed is gone with its step: the reader goes on at the next one. */
function useFocusAt(step: Step["at"]) {
  const section = useRef<HTMLElement>(null);
  const shown = useRef(step);
  // With the drawing: later it would take the focus from what the reader has gone to.
  useLayoutEffect(() => {
    if (shown.current !== step) {
      section.current?.focus({ preventScroll: true });
      section.current?.scrollIntoView({ block: "start" });
    }
    shown.current = step;
  }, [step]);
  return section;
}

function ProviderStep({
  world,
  first,
  onSaved,
}: {
  readonly world: PaneWorld;
  /** Shown until they are read again. */
  readonly first: readonly Provider[] | undefined;
  readonly onSaved: (name: string, models: readonly Model[]) => void;
}) {
  const { t } = setupWords;
  const providers = useLoad(world, () => readProviders(world.api), [], first);
  return (
    <>
      <h2>{t("whoTitle")}</h2>
      <p class="muted">{t("whoAbout")}</p>
      <WhenLoaded loaded={providers}>
        {(known) => <ProviderForm world={world} known={known} onSaved={onSaved} />}
      </WhenLoaded>
    </>
  );
}

function ChannelStep({ world, model, onEnd }: StepsProps & { readonly model: string }) {
  const { t } = setupWords;
  const [open, setOpen] = useState<string>();
  const known = useLoad(world, () => readChannels(world.api), []);
  return (
    <>
      <p role="status">{t("ready", { model })}</p>
      <h2>{t("whereTitle")}</h2>
      <p class="muted">{t("whereAbout")}</p>
      <WhenLoaded loaded={known}>
        {({ channels, hasToken, config }) => {
          const found = channels.find(({ name }) => name === open);
          return (
            <>
              <div class="card-line">
                {channels
                  .filter(({ fields }) => fields.length > 0)
                  .map(({ name, title }) => (
                    <button
                      type="button"
                      key={name}
                      class="button quiet"
                      aria-expanded={open === name}
                      onClick={() => setOpen(open === name ? undefined : name)}
                    >
                      {title}
                    </button>
                  ))}
              </div>
              {found === undefined ? undefined : (
                <div class="card">
                  {found.isOn ? (
                    <>
                      <p>{t("connected", { name: found.title })}</p>
                      <OwnerCode world={world} name={found.name} hasToken={hasToken} onDone={known.reload} />
                    </>
                  ) : (
                    <ChannelForm
                      key={open}
                      world={world}
                      channel={found}
                      section={sectionIn({ config }, found.name)}
                      onConnected={known.reload}
                    />
                  )}
                </div>
              )}
            </>
          );
        }}
      </WhenLoaded>
      <button type="button" class="button primary start" onClick={onEnd}>
        {t("finish")}
      </button>
    </>
  );
}

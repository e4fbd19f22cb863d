import { Action, Section } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { type Mode, type Rules, readSandbox, type Sandbox, saveMode } from "./policy.js";
import { toolsWords } from "./words.js";

const modes: readonly Mode[] = ["ask", "auto", "safe"];
const abouts = { ask: "askAbout", auto: "autoAbout", safe: "safeAbout" } as const;
const bares = { ask: "bareAsk", unasked: "bareUnasked", none: "bareNone" } as const;

export interface PolicySectionProps {
  readonly world: PaneWorld;
  readonly rules: Rules;
  readonly change: (write: (mark: string) => Promise<Rules>) => Promise<void>;
}

/** What is asked about, and how commands run. */
export function ModeSection({ world, rules, change }: PolicySectionProps) {
  const { t } = toolsWords;
  const choose = async (mode: Mode): Promise<void> => {
    const question = { title: t("autoTitle"), text: t("autoText"), action: t("auto"), isDangerous: true };
    if (mode === "auto" && (await world.ask(question)) === undefined) return;
    await change((mark) => saveMode(world.api, mode, mark));
  };
  const sandbox = useLoad(world, () => readSandbox(world.api), [rules.mode]);
  return (
    <>
      <Section title={t("mode")} about={t("modeAbout")}>
        <ul class="cards">
          {modes.map((mode) => (
            <li class="card" key={mode} aria-label={t(mode)} aria-current={mode === rules.mode ? "true" : undefined}>
              <div class="card-line card-head">
                <h3>{t(mode)}</h3>
                {mode === rules.mode ? (
                  <span class="good-text">{t("modeNow")}</span>
                ) : (
                  <Action run={() => choose(mode)}>{t("use")}</Action>
                )}
              </div>
              <p class="muted">{t(abouts[mode])}</p>
            </li>
          ))}
        </ul>
      </Section>
      <Section title={t("sandbox")}>
        <WhenLoaded loaded={sandbox}>
          {(state) => (state === undefined ? undefined : <p class="card">{sandboxText(state)}</p>)}
        </WhenLoaded>
      </Section>
    </>
  );
}

function sandboxText({ state, name, reason, bare }: Sandbox): string {
  const { t } = toolsWords;
  switch (state) {
    case "ready":
      return t("sandboxReady", { name });
    case "checking":
      return t("sandboxChecking");
    case "off":
      return `${t("sandboxOff")} ${t(bares[bare])}`;
    case "unavailable":
      return `${t("sandboxMissing", { reason: /[.!?]$/.test(reason) ? reason : `${reason}.` })} ${t(bares[bare])}`;
    default:
      return state satisfies never;
  }
}

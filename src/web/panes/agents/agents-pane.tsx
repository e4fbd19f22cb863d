import type { PaneProps } from "../list.js";
import { Section } from "../parts/controls.js";
import { WithSettings } from "../settings/file-state.js";
import { SettingsForm } from "../settings/settings-form.js";
import { useSettings } from "../settings/use-settings.js";
import { FilesSection } from "./files-section.js";
import { agentsWords } from "./words.js";

const { t } = agentsWords;

/** What the assistant is: its model, its files, and how it works. Its argument is the file that is open. */
export function AgentsPane({ world, argument }: PaneProps) {
  const settings = useSettings(world);
  return (
    <>
      <FilesSection world={world} open={argument} />
      <WithSettings settings={settings}>
        {(all) => {
          const model = all.settings.find(({ name }) => name === "agents.defaults.model")?.value;
          const isOwn = new Set(["agents.defaults.model", "agents.defaults.fallbacks"]);
          const own = all.settings.filter(({ name }) => name.startsWith("agents.defaults.") && !isOwn.has(name));
          const helpers = all.settings.filter(({ name }) => name.startsWith("agents.spawn."));
          return (
            <>
              <Section title={t("model")}>
                <div class="card card-line">
                  <span>{typeof model === "string" && model !== "" ? t("modelIs", { model }) : t("noModel")}</span>
                  <button type="button" class="button quiet" onClick={() => world.openPane("models")}>
                    {t("toModels")}
                  </button>
                </div>
              </Section>
              <Section title={t("howItWorks")}>
                <div class="card">
                  <SettingsForm world={world} all={all} settings={own} save={settings.save} />
                </div>
              </Section>
              <Section title={t("helpers")} about={t("helpersAbout")}>
                <div class="card">
                  <SettingsForm world={world} all={all} settings={helpers} save={settings.save} />
                </div>
              </Section>
            </>
          );
        }}
      </WithSettings>
    </>
  );
}

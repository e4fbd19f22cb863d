import { Section, Switch } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import { changeSettings, readSettings, sectionAt } from "../setup/settings.js";
import type { PaneWorld } from "../world.js";
import { jobsWords } from "./words.js";

const { t } = jobsWords;

/** What the assistant looks after by itself. */
export function HeartbeatSection({ world }: { readonly world: PaneWorld }) {
  const beat = useLoad(world, async () => sectionAt((await readSettings(world.api)).config, "heartbeat"), []);
  const set = async (enabled: boolean): Promise<void> => {
    await changeSettings(world.api, () => ({ heartbeat: { enabled } }));
    beat.reload();
  };
  return (
    <Section title={t("heartbeat")} about={t("heartbeatAbout")}>
      <WhenLoaded loaded={beat}>
        {({ enabled, everyMinutes }) => (
          <p class="card-line">
            <Switch
              label={t("heartbeatOn", { n: typeof everyMinutes === "number" ? everyMinutes : 30 })}
              isOn={enabled === true}
              set={set}
            />
            <button type="button" class="button quiet" onClick={() => world.openPane("agents", "memory/heartbeat.md")}>
              {t("heartbeatList")}
            </button>
          </p>
        )}
      </WhenLoaded>
    </Section>
  );
}

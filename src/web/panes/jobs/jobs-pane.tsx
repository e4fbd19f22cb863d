import { useState } from "preact/hooks";
import { recordsIn } from "../../gateway/api.js";
import type { PaneProps } from "../list.js";
import { Section } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import { HeartbeatSection } from "./heartbeat-section.js";
import { jobOf } from "./job.js";
import { JobCard } from "./job-card.js";
import { JobForm } from "./job-form.js";
import { jobsWords } from "./words.js";

const { t } = jobsWords;

/** The scheduled jobs, and the heartbeat. */
export function JobsPane({ world }: PaneProps) {
  const [isNew, setNew] = useState(false);
  const jobs = useLoad(world, async () => recordsIn((await world.api.get("api/cron")).jobs).map(jobOf), []);
  const saved = (): void => {
    setNew(false);
    jobs.reload();
  };
  return (
    <>
      <Section title={t("scheduled")}>
        {isNew ? (
          <JobForm world={world} job={undefined} onSaved={saved} onCancel={() => setNew(false)} />
        ) : (
          <p>
            <button type="button" class="button primary" onClick={() => setNew(true)}>
              {t("newJob")}
            </button>
          </p>
        )}
        <WhenLoaded loaded={jobs}>
          {(list) =>
            list.length === 0 ? (
              <p class="muted">{t("none")}</p>
            ) : (
              <ul class="cards">
                {list.map((job) => (
                  <li key={job.id}>
                    <JobCard world={world} job={job} onChanged={jobs.reload} look={jobs.look} />
                  </li>
                ))}
              </ul>
            )
          }
        </WhenLoaded>
      </Section>
      <HeartbeatSection world={world} />
    </>
  );
}

import { useState } from "preact/hooks";
import { problemText } from "../../failures/said.js";
import { recordsIn, textIn } from "../../gateway/api.js";
import { momentOf } from "../../parts/format.js";
import { Action, Switch } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import { useLookAgain } from "../parts/look-again.js";
import type { PaneWorld } from "../world.js";
import type { Job } from "./job.js";
import { JobForm } from "./job-form.js";
import { timesOf } from "./times.js";
import { textOf } from "./times-text.js";
import { jobsWords } from "./words.js";

const { t } = jobsWords;

/** Between two looks at a job that runs. */
const lookMs = 1500;

interface JobCardProps {
  readonly world: PaneWorld;
  readonly job: Job;
  readonly onChanged: () => void;
  readonly look: () => void;
}

/** One job: when it runs, how it went, and all that can be done with it. */
export function JobCard({ world, job, onChanged, look }: JobCardProps) {
  const [isEdited, setEdited] = useState(false);
  const [isOpen, setOpen] = useState(false);
  /** The run that was the last one when another was begun here. */
  const [before, setBefore] = useState<string>();
  const isBegun = before !== undefined && (job.last.at === before || job.last.status === "running");
  useLookAgain(look, isBegun || job.last.status === "running" ? lookMs : undefined);
  const address = `api/cron/${encodeURIComponent(job.id)}`;
  const saved = (): void => {
    setEdited(false);
    onChanged();
  };
  if (isEdited) return <JobForm world={world} job={job} onSaved={saved} onCancel={() => setEdited(false)} />;
  const run = async (): Promise<void> => {
    await world.api.post(`${address}/run`);
    setBefore(job.last.at);
    onChanged();
  };
  const remove = async (): Promise<void> => {
    const question = { title: t("removeThis", { name: job.title }), text: t("removeAbout"), action: t("remove") };
    if ((await world.ask({ ...question, isDangerous: true })) === undefined) return;
    await world.api.delete(address);
    onChanged();
  };
  const enable = async (isOn: boolean): Promise<void> => {
    await world.api.post(`${address}/${isOn ? "enable" : "disable"}`);
    onChanged();
  };
  const zone = job.timeZone === "" ? "" : ` (${t("zone", { zone: job.timeZone })})`;
  return (
    <section class="card" aria-label={job.title}>
      <h3>{job.title}</h3>
      {job.prompt === job.title ? undefined : <p>{job.prompt}</p>}
      <p class="muted">
        {textOf(timesOf(job))}
        {zone}
        <br />
        {stateOf(job)}
      </p>
      <p class="card-line">
        <Switch label={t("isOn")} isOn={job.enabled} set={enable} />
        <Action run={run}>{t("runNow")}</Action>
        <button type="button" class="button quiet" onClick={() => setEdited(true)}>
          {t("edit")}
        </button>
        <button type="button" class="button quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t("history")}
        </button>
        <button type="button" class="button quiet" onClick={() => world.openChat(job.sessionKey)}>
          {t("openChat")}
        </button>
        <Action kind="danger" run={remove}>
          {t("remove")}
        </Action>
      </p>
      <p class="muted" role="status">
        {isBegun ? t("begun") : ""}
      </p>
      {isOpen ? <History world={world} job={job} /> : undefined}
    </section>
  );
}

function stateOf({ enabled, nextRun, last }: Job): string {
  const next = !enabled ? t("off") : nextRun === "" ? "" : t("next", { time: momentOf(new Date(nextRun)) });
  return [next, last.at === "" ? "" : runText(last.status, last.at)].filter((part) => part !== "").join(" · ");
}

function runText(status: string, at: string): string {
  const time = momentOf(new Date(at));
  if (status === "failed") return t("lastBad", { time });
  if (status === "missed") return t("lastMissed", { time });
  return t(status === "running" ? "lastRunning" : "lastGood", { time });
}

/** In a list of runs no run is the last one. */
function pastRunText(status: string, at: string): string {
  const time = momentOf(new Date(at));
  if (status === "failed") return t("pastBad", { time });
  return status === "running" || status === "missed" ? runText(status, at) : t("pastGood", { time });
}

function History({ world, job }: { readonly world: PaneWorld; readonly job: Job }) {
  const address = `api/cron/history?jobId=${encodeURIComponent(job.id)}&limit=20`;
  const runs = useLoad(world, async () => recordsIn((await world.api.get(address)).records), [job.id, job.last.at]);
  return (
    <WhenLoaded loaded={runs}>
      {(list) =>
        list.length === 0 ? (
          <p class="muted">{t("noHistory")}</p>
        ) : (
          <ul class="job-runs">
            {list.map((run) => (
              <li key={textIn(run.id)}>
                <span class={run.status === "failed" ? "problem-text" : "muted"}>
                  {pastRunText(textIn(run.status), textIn(run.startedAt) || textIn(run.dueAt))}
                </span>
                <p>{textIn(run.error) === "" ? textIn(run.output) : problemText(textIn(run.error))}</p>
              </li>
            ))}
          </ul>
        )
      }
    </WhenLoaded>
  );
}

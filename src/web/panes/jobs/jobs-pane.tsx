import { recordsIn, textIn } from "../../gateway/api.js";
import { momentOf } from "../../parts/format.js";
import type { PaneProps } from "../list.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import { jobsWords } from "./words.js";

/** The scheduled jobs. */
export function JobsPane({ world }: PaneProps) {
  const jobs = useLoad(world, async () => recordsIn((await world.api.get("api/cron")).jobs), []);
  return (
    <WhenLoaded loaded={jobs}>
      {(list) =>
        list.length === 0 ? (
          <p class="muted">{jobsWords.t("none")}</p>
        ) : (
          <ul class="cards">
            {list.map(({ id, title, nextRun, sessionKey }) => (
              <li class="card" key={textIn(id)}>
                <h3>{textIn(title)}</h3>
                <p class="muted">{textIn(nextRun) === "" ? jobsWords.t("off") : momentOf(new Date(textIn(nextRun)))}</p>
                <button type="button" class="button quiet" onClick={() => world.openChat(textIn(sessionKey))}>
                  {jobsWords.t("openChat")}
                </button>
              </li>
            ))}
          </ul>
        )
      }
    </WhenLoaded>
  );
}

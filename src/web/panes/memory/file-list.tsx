import { type JsonObject, recordsIn, textIn } from "../../gateway/api.js";
import { momentOf } from "../../parts/format.js";
import { Section } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { memoryWords } from "./words.js";

const { t } = memoryWords;

const about = {
  "AGENTS.md": "agents",
  "SOUL.md": "soul",
  "USER.md": "user",
  "GUESTS.md": "guests",
  "memory/MEMORY.md": "memory",
  "memory/heartbeat.md": "heartbeat",
  "memory/HISTORY.md": "history",
} as const;

/** The files that say who the owner is and how the assistant works. */
export function FileList({ world }: { readonly world: PaneWorld }) {
  const files = useLoad(world, async () => recordsIn((await world.api.get("api/workspace-file")).files), []);
  return (
    <Section title={t("files")}>
      <WhenLoaded loaded={files}>
        {(list) => (
          <ul class="cards">
            {list.map((file) => (
              <li class="card" key={textIn(file.name)}>
                <h3>{textIn(file.name)}</h3>
                <p class="muted">{aboutOf(textIn(file.name))}</p>
                <p class="card-line">
                  {textIn(file.problem) === "" ? (
                    <span class="muted">{stateOf(file)}</span>
                  ) : (
                    <span class="problem-text">{textIn(file.problem)}</span>
                  )}
                  <button
                    type="button"
                    class="button quiet"
                    onClick={() => world.openPane("memory", textIn(file.name))}
                    disabled={textIn(file.problem) !== ""}
                  >
                    {t("edit", { name: textIn(file.name) })}
                  </button>
                </p>
              </li>
            ))}
          </ul>
        )}
      </WhenLoaded>
    </Section>
  );
}

function aboutOf(name: string): string {
  const known = Object.entries(about).find(([file]) => file === name);
  return known === undefined ? "" : t(known[1]);
}

function stateOf({ exists, changedAt }: JsonObject): string {
  if (exists !== true) return t("notThere");
  return textIn(changedAt) === "" ? "" : t("changed", { time: momentOf(new Date(textIn(changedAt))) });
}

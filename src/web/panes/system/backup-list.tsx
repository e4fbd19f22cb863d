import { recordsIn, textIn } from "../../gateway/api.js";
import { momentOf } from "../../parts/format.js";
import { Action, Section } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { bytesText, numberIn } from "./amounts.js";
import { systemWords } from "./words.js";

const { t } = systemWords;
const limitMs = 600_000;

/** Backups that were made here. */
export function BackupList({ world }: { readonly world: PaneWorld }) {
  const backups = useLoad(world, async () => recordsIn((await world.api.get("api/backups")).backups), []);
  const make = async (): Promise<void> => {
    await world.api.post("api/backups", {}, { timeoutMs: limitMs });
    backups.reload();
  };
  return (
    <Section title={t("backups")} about={t("backupsAbout")}>
      <p>
        <Action run={make}>{t("makeBackup")}</Action>
      </p>
      <WhenLoaded loaded={backups}>
        {(list) =>
          list.length === 0 ? (
            <p class="muted">{t("noBackups")}</p>
          ) : (
            <ul class="cards">
              {list.map(({ name, bytes, createdAt }) => (
                <li class="card" key={textIn(name)}>
                  <h3>{textIn(name)}</h3>
                  <p class="card-line">
                    <span class="muted">{momentOf(new Date(textIn(createdAt)))}</span>
                    <span class="muted">{bytesText(numberIn(bytes))}</span>
                    <Action run={() => download(world, textIn(name))}>{t("download")}</Action>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </WhenLoaded>
    </Section>
  );
}

/** By a request of the page, because a link would not carry the token. */
async function download(world: PaneWorld, name: string): Promise<void> {
  const answer = await world.api.response("GET", `api/backups/${encodeURIComponent(name)}`, undefined, {
    timeoutMs: limitMs,
  });
  const address = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

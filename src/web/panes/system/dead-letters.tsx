import { problemText } from "../../failures/said.js";
import { type JsonObject, recordsIn, textIn } from "../../gateway/api.js";
import { momentOf } from "../../parts/format.js";
import { Action, Section } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { Ledger } from "./ledger.js";
import { systemWords } from "./words.js";

const { t } = systemWords;

/** Messages and replies that were given up, to try again or to delete. */
export function DeadLetters({ world }: { readonly world: PaneWorld }) {
  const letters = useLoad(world, async () => recordsIn((await world.api.get("api/dead")).letters), []);
  return (
    <Section title={t("dead")} about={t("deadAbout")}>
      <WhenLoaded loaded={letters}>
        {(list) =>
          list.length === 0 ? (
            <p class="muted">{t("noDead")}</p>
          ) : (
            <ul class="cards">
              {list.map((letter) => (
                <Letter key={textIn(letter.id)} world={world} letter={letter} reload={letters.reload} />
              ))}
            </ul>
          )
        }
      </WhenLoaded>
      <Ledger world={world} />
    </Section>
  );
}

function Letter({
  world,
  letter,
  reload,
}: {
  readonly world: PaneWorld;
  readonly letter: JsonObject;
  readonly reload: () => void;
}) {
  const path = `api/dead/${encodeURIComponent(textIn(letter.id))}`;
  const resend = async (): Promise<void> => {
    const question = { title: t("resendTitle"), text: t("resendText"), action: t("resend") };
    if ((await world.ask(question)) === undefined) return;
    await world.api.post(`${path}/redrive`, {});
    reload();
  };
  const drop = async (): Promise<void> => {
    const question = { title: t("dropTitle"), text: t("dropText"), action: t("drop"), isDangerous: true };
    if ((await world.ask(question)) === undefined) return;
    await world.api.delete(path);
    reload();
  };
  return (
    <li class="card">
      <h3>{t(letter.kind === "message" ? "deadMessage" : "deadReply", { chat: textIn(letter.sessionKey) })}</h3>
      <p>{textIn(letter.begin)}</p>
      <p class="problem-text">{problemText(textIn(letter.reason))}</p>
      <p class="muted">{t("givenUp", { at: momentOf(new Date(textIn(letter.buriedAt))) })}</p>
      <p class="card-line">
        <Action run={resend}>{t("resend")}</Action>
        <Action run={drop} kind="danger">
          {t("drop")}
        </Action>
      </p>
    </li>
  );
}

import { Action } from "../parts/controls.js";
import type { PaneWorld } from "../world.js";
import { type Known, removeOwner, revoke } from "./channels.js";
import { channelsWords } from "./words.js";

/** Who may talk on a channel, and the way to end that. */
export function People({
  world,
  channel,
  known,
  onChanged,
}: {
  readonly world: PaneWorld;
  readonly channel: string;
  readonly known: Known;
  readonly onChanged: () => void;
}) {
  const { t } = channelsWords;
  const prefix = `${channel}:`;
  const owners = known.owners.filter((owner) => owner.startsWith(prefix));
  const guests = known.paired.filter((one) => one.channel === channel);
  const confirmed = async (name: string, text: string, work: () => Promise<void>): Promise<void> => {
    const title = t("revokeTitle", { name });
    if ((await world.ask({ title, text, action: t("revoke"), isDangerous: true })) === undefined) return;
    await work();
    onChanged();
  };
  return (
    <div class="people">
      <h3>{t("people")}</h3>
      {owners.length + guests.length === 0 ? <p class="muted">{t("nobody")}</p> : undefined}
      <ul class="plain-list">
        {owners.map((owner) => (
          <li class="card-line" key={owner}>
            <span>{owner.slice(prefix.length)}</span>
            <span class="muted">{t("owner")}</span>
            {known.hasToken ? (
              <Action
                kind="danger"
                run={() => confirmed(owner.slice(prefix.length), t("revokeOwner"), () => removeOwner(world.api, owner))}
              >
                {t("revoke")}
              </Action>
            ) : undefined}
          </li>
        ))}
        {guests.map((guest) => (
          <li class="card-line" key={guest.id}>
            <span>{guest.name === "" ? guest.id : `${guest.name} (${guest.id})`}</span>
            <span class="muted">{t("guest")}</span>
            <Action
              kind="danger"
              run={() => confirmed(guest.name || guest.id, t("revokeGuest"), () => revoke(world.api, guest))}
            >
              {t("revoke")}
            </Action>
          </li>
        ))}
      </ul>
    </div>
  );
}

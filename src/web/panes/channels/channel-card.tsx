import { useState } from "preact/hooks";
import { problemText } from "../../failures/said.js";
import { momentOf } from "../../parts/format.js";
import { Action, Switch } from "../parts/controls.js";
import type { PaneWorld } from "../world.js";
import { ChannelForm } from "./channel-form.js";
import { type Channel, type Known, switchChannel, testChannel } from "./channels.js";
import { OwnerCode } from "./owner-code.js";
import { People } from "./people.js";
import { ToDo } from "./to-do.js";
import { channelsWords } from "./words.js";

/** One channel: how it is, its settings, and who may talk there. */
export function ChannelCard({
  world,
  channel,
  known,
  onChanged,
}: {
  readonly world: PaneWorld;
  readonly channel: Channel;
  readonly known: Known;
  readonly onChanged: () => void;
}) {
  const { t } = channelsWords;
  const { name, title, isOn } = channel;
  const [isOpen, setOpen] = useState(false);
  const [said, setSaid] = useState("");
  const isOffered = channel.fields.length > 0;
  const isSetUp = isOn || hasSettings(known, name);
  const test = async (): Promise<void> => {
    setSaid("");
    const account = await testChannel(world.api, name, {});
    setSaid(account === "" ? t("testWorks") : t("testWorksAs", { account }));
  };
  const connected = (): void => {
    setOpen(false);
    setSaid(t("works", { name: title }));
    onChanged();
  };
  return (
    <li class="card" aria-label={title}>
      <div class="card-line">
        <h2>{title}</h2>
        {isSetUp ? (
          <Switch label={t("on")} isOn={isOn} set={(on) => switchChannel(world.api, name, on).then(onChanged)} />
        ) : undefined}
      </div>
      <Health channel={channel} known={known} />
      {channel.toDo === undefined ? undefined : <ToDo {...channel.toDo} />}
      <div class="card-line">
        {isOffered ? (
          <button type="button" class="button quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isSetUp ? t("change") : t("setUp")}
          </button>
        ) : (
          <span class="muted">{t("inFile")}</span>
        )}
        {isSetUp ? <Action run={test}>{t("test")}</Action> : undefined}
      </div>
      <p role="status" class="muted">
        {said}
      </p>
      {isOpen && isOffered ? <ChannelForm world={world} channel={channel} onConnected={connected} /> : undefined}
      {isOn ? <People world={world} channel={name} known={known} onChanged={onChanged} /> : undefined}
      {channel.state === "connected" ? (
        <OwnerCode world={world} name={name} hasToken={known.hasToken} onDone={onChanged} />
      ) : undefined}
    </li>
  );
}

/** How it is, honestly: a socket that is open says nothing, an answer does. */
function Health({
  channel: { name, state, reason, since, isOn },
  known,
}: {
  readonly channel: Channel;
  readonly known: Known;
}) {
  const { t } = channelsWords;
  if (!isOn) return <p class="muted">{t("isOff")}</p>;
  if (state === "connected") {
    const [last] = known.lastMessages.filter((one) => one.channel === name);
    const at =
      last === undefined || last.at === "" ? t("noMessage") : t("lastMessage", { at: momentOf(new Date(last.at)) });
    const sinceText = since === "" ? "" : momentOf(new Date(since));
    return (
      <p class="good-text">
        {t("connected", { since: sinceText })} <span class="muted">{at}</span>
      </p>
    );
  }
  if (state === "connecting") return <p class="muted">{t("connecting")}</p>;
  const key = state === "off" ? "unusable" : state === "reconnecting" ? "reconnecting" : "disconnected";
  return <p class="problem-text">{t(key, { reason: problemText(reason) })}</p>;
}

function hasSettings({ config }: Known, name: string): boolean {
  const sections: unknown = config.channels;
  return Object.keys(Object(Reflect.get(Object(sections), name))).length > 0;
}

import { useState } from "preact/hooks";
import { problemText } from "../../failures/said.js";
import { momentOf } from "../../parts/format.js";
import { Action, Switch } from "../parts/controls.js";
import { FormOpener } from "../parts/form-opener.js";
import type { PaneWorld } from "../world.js";
import { AccountForm } from "./account-form.js";
import { ChannelForm } from "./channel-form.js";
import { type Channel, type Known, removeAccount, sectionIn, switchChannel, testChannel } from "./channels.js";
import { OwnerCode } from "./owner-code.js";
import { People } from "./people.js";
import { ToDo } from "./to-do.js";
import { channelsWords } from "./words.js";

interface CardProps {
  readonly world: PaneWorld;
  readonly channel: Channel;
  readonly known: Known;
  readonly onChanged: () => void;
}

/** One channel: how it is, its settings, and who may talk there. */
export function ChannelCard({ world, channel, known, onChanged }: CardProps) {
  const { t } = channelsWords;
  const { name, title, isOn } = channel;
  const isSetUp = isOn || Object.keys(sectionIn(known, name)).length > 0;
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
      <SetUp world={world} channel={channel} known={known} isSetUp={isSetUp} onChanged={onChanged} />
      {isOn ? <People world={world} channel={name} known={known} onChanged={onChanged} /> : undefined}
      {channel.state === "connected" ? (
        <OwnerCode world={world} name={name} hasToken={known.hasToken} onDone={onChanged} />
      ) : undefined}
    </li>
  );
}

/** What can be done with its settings, and the form for it while it is open. */
function SetUp({ world, channel, known, isSetUp, onChanged }: CardProps & { readonly isSetUp: boolean }) {
  const { t } = channelsWords;
  const { name, title, platform } = channel;
  const [open, setOpen] = useState<"settings" | "account">();
  const [said, setSaid] = useState("");
  const isAccount = platform !== "" && platform !== name;
  const connected = (works: string): void => {
    setOpen(undefined);
    setSaid(t("works", { name: works }));
    onChanged();
  };
  const opener = (form: "settings" | "account", text: string) => (
    <FormOpener
      world={world}
      isOpen={open === form}
      closes={open !== undefined}
      press={() => setOpen(open === form ? undefined : form)}
    >
      {text}
    </FormOpener>
  );
  return (
    <>
      <div class="card-line">
        {channel.fields.length === 0 ? (
          <span class="muted">{t("inFile")}</span>
        ) : (
          <>
            {opener("settings", isSetUp ? t("change") : t("setUp"))}
            {isSetUp && !isAccount ? opener("account", t("addAccount")) : undefined}
          </>
        )}
        {isSetUp ? <Test world={world} name={name} onSaid={setSaid} /> : undefined}
        {isAccount ? <Remove world={world} channel={channel} onChanged={onChanged} /> : undefined}
      </div>
      <p role="status" class="muted">
        {said}
      </p>
      {open === "settings" ? (
        <ChannelForm
          world={world}
          channel={channel}
          section={sectionIn(known, name)}
          onConnected={() => connected(title)}
        />
      ) : undefined}
      {open === "account" ? <AccountForm world={world} channel={channel} onConnected={connected} /> : undefined}
    </>
  );
}

function Test({
  world,
  name,
  onSaid,
}: {
  readonly world: PaneWorld;
  readonly name: string;
  readonly onSaid: (said: string) => void;
}) {
  const { t } = channelsWords;
  const test = async (): Promise<void> => {
    onSaid("");
    const account = await testChannel(world.api, name, {});
    onSaid(account === "" ? t("testWorks") : t("testWorksAs", { account }));
  };
  return <Action run={test}>{t("test")}</Action>;
}

/** Takes a further account away. */
function Remove({ world, channel: { name, title }, onChanged }: Omit<CardProps, "known">) {
  const { t } = channelsWords;
  const remove = async (): Promise<void> => {
    const question = { title: t("revokeTitle", { name: title }), text: t("removeAbout"), action: t("revoke") };
    if ((await world.ask({ ...question, isDangerous: true })) === undefined) return;
    await removeAccount(world.api, name);
    onChanged();
  };
  return (
    <Action kind="danger" run={remove}>
      {t("removeAccount")}
    </Action>
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

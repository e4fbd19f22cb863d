import { useState } from "preact/hooks";
import { Action } from "../parts/controls.js";
import { TextField } from "../setup/text-field.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import { connect, type Offered, testChannel } from "./channels.js";
import { type ChannelField, channelFields, sectionOf } from "./fields.js";
import { channelsWords } from "./words.js";

/** What a channel needs. It is tried at the platform before anything is written. `onConnected` gets how people find the bot. */
export function ChannelForm({
  world,
  name,
  isOn,
  onConnected,
}: {
  readonly world: PaneWorld;
  readonly name: Offered;
  readonly isOn: boolean;
  readonly onConnected: (account: string) => void;
}) {
  const { t } = channelsWords;
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const fields = channelFields[name];
  useUnsaved(
    world,
    Object.values(typed).some((value) => value !== ""),
  );
  const save = async (): Promise<void> => {
    const section = sectionOf(typed);
    const account = await testChannel(world.api, name, section);
    await connect(world.api, name, section, isOn);
    setTyped({});
    world.announce(t("works", { name: t(name) }));
    onConnected(account);
  };
  const control = (field: ChannelField) => (
    <Control
      key={field.key}
      field={field}
      value={typed[field.key] ?? ""}
      set={(value) => setTyped({ ...typed, [field.key]: value })}
    />
  );
  return (
    <div class="form">
      {fields.filter(({ isMore }) => isMore !== true).map(control)}
      <details class="more-fields">
        <summary>{t("more")}</summary>
        <div class="form">{fields.filter(({ isMore }) => isMore === true).map(control)}</div>
      </details>
      <Action kind="primary" run={save}>
        {t("testAndConnect")}
      </Action>
    </div>
  );
}

function Control({
  field: { label, hint, kind, link },
  value,
  set,
}: {
  readonly field: ChannelField;
  readonly value: string;
  readonly set: (value: string) => void;
}) {
  if (kind === "consent")
    return (
      <label class="consent">
        <input
          type="checkbox"
          checked={value === "yes"}
          onChange={({ currentTarget }) => set(currentTarget.checked ? "yes" : "")}
        />
        <span>
          {label()} <span class="field-hint">{hint()}</span>
        </span>
      </label>
    );
  return (
    <div>
      <TextField label={label()} hint={hint()} value={value} set={set} isSecret={kind === "secret"} />
      {link === undefined ? undefined : (
        <a class="link" href={link} target="_blank" rel="noreferrer">
          {channelsWords.t("where")}
        </a>
      )}
    </div>
  );
}

import { useState } from "preact/hooks";
import type { JsonObject } from "../../gateway/api.js";
import { Action } from "../parts/controls.js";
import { SelectField } from "../parts/select-field.js";
import { TextField } from "../setup/text-field.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import { type Channel, connect, testChannel } from "./channels.js";
import { type ChannelField, sectionOf, textsOf } from "./fields.js";
import { channelsWords } from "./words.js";

/**
 * What a channel needs. It is tried at the platform before anything is written. `onConnected` gets how people find the bot.
 * `check` rejects with what must be mended first.
 */
export function ChannelForm({
  world,
  channel: { name, title, fields, isOn },
  section: known,
  check,
  onConnected,
}: {
  readonly world: PaneWorld;
  readonly channel: Pick<Channel, "name" | "title" | "fields" | "isOn">;
  /** What the config has for it. */
  readonly section: JsonObject;
  readonly check?: () => Promise<void>;
  readonly onConnected: (account: string) => void;
}) {
  const { t } = channelsWords;
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const before = textsOf(fields, known);
  useUnsaved(world, Object.keys(sectionOf(fields, typed, before)).length > 0);
  const save = async (): Promise<void> => {
    await check?.();
    const section = sectionOf(fields, typed, before);
    const account = await testChannel(world.api, name, section);
    await connect(world.api, name, section);
    setTyped({});
    world.announce(t("works", { name: title }));
    onConnected(account);
  };
  const control = (field: ChannelField) => (
    <Control
      key={field.key}
      field={field}
      isOn={isOn}
      isKept={field.sets.some((key) => known[key] !== undefined)}
      value={typed[field.key] ?? before[field.key] ?? ""}
      set={(value) => setTyped({ ...typed, [field.key]: value })}
    />
  );
  return (
    <div class="form">
      {fields.filter(({ isMore }) => !isMore).map(control)}
      <details class="more-fields">
        <summary>{t("more")}</summary>
        <div class="form">{fields.filter(({ isMore }) => isMore).map(control)}</div>
      </details>
      <Action kind="primary" run={save}>
        {t("testAndConnect")}
      </Action>
    </div>
  );
}

function Control({
  field: { label, hint, kind, link, choices },
  isOn,
  isKept,
  value,
  set,
}: {
  readonly field: ChannelField;
  readonly isOn: boolean;
  /** The config has something for it. */
  readonly isKept: boolean;
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
          {label} <span class="field-hint">{hint}</span>
        </span>
      </label>
    );
  if (kind === "choice")
    return (
      <SelectField
        label={label}
        hint={hint}
        options={[
          ...(isOn && !isKept ? [{ value: "", label: channelsWords.t("asItIs") }] : []),
          ...choices.map((choice) => ({ value: choice, label: choice })),
        ]}
        value={value === "" && !isOn ? (choices[0] ?? "") : value}
        set={set}
      />
    );
  return (
    <div>
      <TextField
        label={label}
        hint={kind === "secret" && isKept ? channelsWords.t("secretKept") : hint}
        value={value}
        set={set}
        isSecret={kind === "secret"}
      />
      {link === undefined ? undefined : (
        <a class="link" href={link} target="_blank" rel="noreferrer">
          {channelsWords.t("where")}
        </a>
      )}
    </div>
  );
}

import { useState } from "preact/hooks";
import { type PaneProps, panes } from "../list.js";
import { Field, Section } from "../parts/controls.js";
import type { PaneWorld } from "../world.js";
import { type AllSettings, problemOf, type Setting } from "./all-settings.js";
import { hasStars } from "./fields/field-kind.js";
import { fieldWords, nameIn } from "./fields/words.js";
import { WithSettings } from "./file-state.js";
import { type Group, groupsOf, isFound } from "./groups.js";
import { rankOf } from "./rank.js";
import { SettingsForm } from "./settings-form.js";
import { type SaveChanges, useSettings } from "./use-settings.js";

const { t } = fieldWords;

/** Every setting of the config, made from its schema. Its argument is the group that is open. */
export function SettingsPane({ world, argument }: PaneProps) {
  const settings = useSettings(world);
  return (
    <WithSettings settings={settings}>
      {(all) => <Groups world={world} all={all} save={settings.save} open={argument} />}
    </WithSettings>
  );
}

function Groups({
  world,
  all,
  save,
  open,
}: {
  readonly world: PaneWorld;
  readonly all: AllSettings;
  readonly save: SaveChanges;
  readonly open: string;
}) {
  const [wanted, setWanted] = useState("");
  const isSearching = wanted.trim() !== "";
  const rank = (setting: Setting): number => rankOf(setting, wanted.trim());
  const found = isSearching
    ? all.settings.filter((setting) => isFound(setting, wanted.trim())).sort((one, other) => rank(one) - rank(other))
    : all.settings;
  const names = new Set(found.map(({ name }) => name));
  const place = ({ settings }: Group): number => found.findIndex((setting) => settings.includes(setting));
  const groups = isSearching
    ? groupsOf(all.settings).toSorted((one, other) => place(one) - place(other))
    : groupsOf(all.settings);
  const path = all.file.path;
  return (
    <>
      <Field label={t("search")} hint={t(all.file.exists ? "file" : "noFile", { path })}>
        {(ids) => (
          <input
            {...ids}
            type="search"
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        )}
      </Field>
      <p class="off-screen" role="status">
        {isSearching ? fieldWords.count(found.length, "foundOne", "found") : ""}
      </p>
      {found.length === 0 ? <p class="muted">{t("nothing")}</p> : undefined}
      <div class="setting-groups">
        {groups.map((group) => {
          const shown = group.settings.filter(({ name }) => names.has(name));
          const isShown = shown.length > 0;
          return (
            <div key={group.id} hidden={!isShown}>
              <GroupCard
                world={world}
                all={all}
                save={save}
                group={group}
                shown={names}
                isOpen={isSearching || open === group.id}
              />
            </div>
          );
        })}
      </div>
      <Unknown all={all} />
    </>
  );
}

function GroupCard({
  world,
  all,
  save,
  group: { id, settings, title, pane: ownPane },
  shown,
  isOpen,
}: {
  readonly world: PaneWorld;
  readonly all: AllSettings;
  readonly save: SaveChanges;
  readonly group: Group;
  readonly shown: ReadonlySet<string>;
  readonly isOpen: boolean;
}) {
  const [wasOpened, setOpened] = useState(isOpen);
  const own = panes.find((pane) => pane.id === ownPane);
  const set = settings.filter(({ value }) => value !== undefined).length;
  const wrong = settings.filter((setting) => problemOf(setting, all) !== undefined).length;
  return (
    <details
      class="card setting-group"
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}
    >
      <summary>
        <h2>{title ?? nameIn("group", id)}</h2>
        {set === 0 ? undefined : <span class="setting-source">{t("setHere", { n: set })}</span>}
        {wrong === 0 ? undefined : <span class="problem-text">{fieldWords.count(wrong, "wrongOne", "wrong")}</span>}
      </summary>
      {own === undefined ? undefined : (
        <p>
          <button type="button" class="link" onClick={() => world.openPane(own.id)}>
            {t("openPane", { title: own.title() })}
          </button>
        </p>
      )}
      {wasOpened || isOpen ? (
        <SettingsForm world={world} all={all} settings={inOrder(settings, shown)} save={save} />
      ) : undefined}
    </details>
  );
}

/** Those that are shown, the best first. */
function inOrder(settings: readonly Setting[], shown: ReadonlySet<string>): readonly Setting[] {
  const places = [...shown];
  return settings
    .filter(({ name }) => shown.has(name))
    .sort((one, other) => places.indexOf(one.name) - places.indexOf(other.name));
}

function Unknown({ all: { unknown } }: { readonly all: AllSettings }) {
  if (unknown.length === 0) return undefined;
  return (
    <Section title={t("unknownTitle")} about={t("unknownAbout")}>
      <ul class="plain-list">
        {unknown.map(({ name, value }) => (
          <li key={name}>
            <code>{name}</code> <code class="muted">{JSON.stringify(value)}</code>
            {hasStars(value) ? <span class="field-hint">{t("unknownHidden")}</span> : undefined}
          </li>
        ))}
      </ul>
    </Section>
  );
}

import { useState } from "preact/hooks";
import { Action, Field } from "../parts/controls.js";
import { SelectField } from "../parts/select-field.js";
import { TextField } from "../setup/text-field.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import { NeedsToken } from "./needs-token.js";
import { SecretFields } from "./secret-fields.js";
import { addServer, changeServer, type Entry, isChanged, readServers, type Section, tryServer } from "./servers.js";
import { mcpWords } from "./words.js";

interface FormProps {
  readonly world: PaneWorld;
  /** The one that is changed; undefined: another one is added. */
  readonly known?: { readonly name: string; readonly section: Section } | undefined;
  readonly mark: string;
  readonly onSaved: (said: string) => void;
}

/** A server, tried before it is saved. */
export function ServerForm({ world, known, mark, onSaved }: FormProps) {
  const { t } = mcpWords;
  const [entry, setEntry] = useState<Entry>(() => entryOf(known));
  /** Of when the form was opened: what was changed since is not undone unseen. */
  const [opened, setOpened] = useState(mark);
  const before = known?.section.secrets ?? [];
  useUnsaved(world, JSON.stringify(entry) !== JSON.stringify(entryOf(known)));
  const set = (change: Partial<Entry>): void => setEntry({ ...entry, ...change });
  const save = async (): Promise<void> => {
    if (known === undefined) return await addServer(world.api, entry);
    try {
      await changeServer(world.api, entry, before, opened);
    } catch (error) {
      if (!isChanged(error)) throw error;
      setOpened((await readServers(world.api)).mark);
      throw new Error(t("changedMeanwhile"));
    }
  };
  const testAndSave = async (): Promise<void> => {
    const { length } = await tryServer(world.api, entry, before);
    await save();
    onSaved(t(length === 1 ? "savedOne" : "saved", { name: entry.name.trim(), n: length }));
  };
  const saveUntested = async (): Promise<void> => {
    await save();
    onSaved(t("savedUntested", { name: entry.name.trim() }));
  };
  return (
    <div class="form">
      <NeedsToken world={world} />
      {known === undefined ? (
        <>
          <TextField label={t("name")} hint={t("nameHint")} value={entry.name} set={(name) => set({ name })} />
          <SelectField
            label={t("way")}
            options={[
              { value: "command", label: t("viaCommand") },
              { value: "url", label: t("viaUrl") },
            ]}
            value={entry.kind}
            set={(kind) => set({ kind, secrets: [] })}
          />
        </>
      ) : undefined}
      <Place entry={entry} set={set} />
      <SecretFields
        label={t(entry.kind === "command" ? "env" : "headers")}
        hint={t(entry.kind === "command" ? "envHint" : "headersHint")}
        secrets={entry.secrets}
        set={(secrets) => set({ secrets })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={entry.isTrusted}
          onChange={({ currentTarget }) => set({ isTrusted: currentTarget.checked })}
        />
        <span>{t("trusted")}</span>
      </label>
      <div class="card-line">
        <Action kind="primary" run={testAndSave} isDisabled={entry.name.trim() === ""}>
          {t("testAndSave")}
        </Action>
        <Action run={saveUntested} isDisabled={entry.name.trim() === ""}>
          {t("saveAnyway")}
        </Action>
      </div>
    </div>
  );
}

function Place({ entry, set }: { readonly entry: Entry; readonly set: (change: Partial<Entry>) => void }) {
  const { t } = mcpWords;
  if (entry.kind === "url")
    return <TextField label={t("url")} hint={t("urlHint")} value={entry.url} set={(url) => set({ url })} />;
  return (
    <>
      <p class="note warning">{t("readFirst")}</p>
      <TextField
        label={t("command")}
        hint={t("commandHint")}
        value={entry.command}
        set={(command) => set({ command })}
      />
      <Field label={t("args")} hint={t("argsHint")}>
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            spellcheck={false}
            value={entry.args}
            onInput={({ currentTarget }) => set({ args: currentTarget.value })}
          />
        )}
      </Field>
    </>
  );
}

function entryOf(known: FormProps["known"]): Entry {
  const { name, section } = known ?? {};
  return {
    name: name ?? "",
    kind: section?.kind ?? "command",
    command: section?.command ?? "",
    args: (section?.args ?? []).join("\n"),
    url: section?.url ?? "",
    secrets: (section?.secrets ?? []).map((one) => ({ name: one, value: "", isStored: true })),
    isTrusted: section?.isTrusted ?? false,
  };
}

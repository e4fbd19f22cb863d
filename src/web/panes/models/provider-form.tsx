import { useState } from "preact/hooks";
import { Action } from "../parts/controls.js";
import { TextField } from "../setup/text-field.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import { PickList } from "./pick-list.js";
import { type Model, modelsOf, type Provider, type ProviderEntry, saveProvider } from "./providers.js";
import { modelsWords } from "./words.js";

interface ProviderFormProps {
  readonly world: PaneWorld;
  readonly known: readonly Provider[];
  /** The one that is changed; undefined: another one is added, and the reader chooses which. */
  readonly only?: Provider | undefined;
  /** It was tested and written, and is in force. */
  readonly onSaved: (name: string, models: readonly Model[]) => void;
}

const another = "+";
const address = /^https?:\/\/\S+$/i;

/** Who runs the model: chosen from a list, with a key that is tested before it is saved. */
export function ProviderForm({ world, known, only, onSaved }: ProviderFormProps) {
  const { t } = modelsWords;
  const [picked, setPicked] = useState(only?.name ?? "");
  const [ownName, setOwnName] = useState("");
  const [apiKey, setKey] = useState("");
  const [apiBase, setBase] = useState("");
  const name = picked === another ? ownName.trim() : picked;
  const found = known.find((one) => one.name === name);
  useUnsaved(world, [ownName, apiKey, apiBase].join("") !== "");
  const save = async (): Promise<void> => {
    const entry: ProviderEntry = { name, apiKey: apiKey.trim(), apiBase: apiBase.trim() };
    assertWritable(entry, picked === another);
    const models = await modelsOf(world.api, entry);
    await saveProvider(world.api, entry, found);
    setKey("");
    setBase("");
    setOwnName("");
    world.announce(t("saved", { name }));
    onSaved(name, models);
  };
  const pick = (value: string): void => {
    setPicked(value);
    // What was typed for one provider is not sent to another.
    setKey("");
    setBase("");
  };
  return (
    <div class="form">
      {only === undefined ? (
        <PickList label={t("which")} items={itemsOf(known)} value={picked} pick={pick} />
      ) : undefined}
      {picked === another ? (
        <TextField label={t("name")} hint={t("nameHint")} value={ownName} set={setOwnName} />
      ) : undefined}
      {picked === "" ? undefined : (
        <>
          {picked === another ? (
            <TextField label={t("address")} hint={t("addressHint")} value={apiBase} set={setBase} />
          ) : undefined}
          {found?.isLocal === true ? undefined : (
            <TextField
              label={name === "" ? t("keyOfAny") : t("key", { name })}
              hint={keyHint(found, name)}
              value={apiKey}
              set={setKey}
              isSecret
            />
          )}
          {picked === another ? undefined : (
            <details class="more-fields">
              <summary>{t("ownAddress")}</summary>
              <TextField
                label={t("address")}
                hint={t("ownAddressHint", { address: found?.apiBase ?? "" })}
                value={apiBase}
                set={setBase}
              />
            </details>
          )}
          <Action kind="primary" run={save} isDisabled={name === ""}>
            {t("testAndSave")}
          </Action>
        </>
      )}
    </div>
  );
}

function itemsOf(known: readonly Provider[]) {
  const { t } = modelsWords;
  const hintOf = ({ isConfigured, isLocal }: Provider): string | undefined =>
    isConfigured ? t("isThere") : isLocal ? t("ownMachine") : undefined;
  const items = known.map((one) => ({ value: one.name, label: one.name, hint: hintOf(one) }));
  return [...items, { value: another, label: t("another") }];
}

function keyHint(found: Provider | undefined, name: string): string {
  const { t } = modelsWords;
  if (found === undefined) return t("keyFree");
  return found.hasKey ? t("keyKept") : t("keyHint", { name });
}

/** @throws {Error} what is wrong with what was typed */
function assertWritable({ name, apiBase }: ProviderEntry, isAnother: boolean): void {
  const { t } = modelsWords;
  if (!/^[a-z0-9][a-z0-9_-]*$/i.test(name)) throw new Error(t("nameWrong"));
  if ((isAnother || apiBase !== "") && !address.test(apiBase)) throw new Error(t("addressWrong"));
}

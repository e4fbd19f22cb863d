import { useState } from "preact/hooks";
import { Action, Field } from "../parts/controls.js";
import { TextField } from "../setup/text-field.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import { type Install, installSkill, isTaken } from "./skills.js";
import { Problems } from "./skills-pane.js";
import { skillsWords } from "./words.js";

/** Skills from an address, from a place on the gateway's machine, or from a file of the reader. */
export function InstallForm({ world, onInstalled }: { readonly world: PaneWorld; readonly onInstalled: () => void }) {
  const { t } = skillsWords;
  const [source, setSource] = useState("");
  const [file, setFile] = useState<File>();
  const [said, setSaid] = useState<{ readonly text: string; readonly warnings: readonly string[] }>();
  useUnsaved(world, source !== "");
  const install = async (): Promise<void> => {
    setSaid(undefined);
    const wanted = await placeOf(world, source.trim(), file);
    const installed = await installOrReplace(world, wanted);
    if (installed === undefined) return;
    const text = t("installed", { names: installed.map(({ name }) => name).join(", ") });
    const warnings = installed.flatMap(({ name, warnings }) => warnings.map((one) => `${name}: ${one}`));
    setSaid({ text, warnings });
    setSource("");
    world.announce(text);
    onInstalled();
  };
  return (
    <div class="card form">
      <p class="muted">{t("readFirst")}</p>
      <TextField label={t("source")} hint={t("sourceHint")} value={source} set={setSource} />
      <Field label={t("file")}>
        {(ids) => (
          <input
            {...ids}
            type="file"
            accept=".zip,.skill,.md"
            onChange={({ currentTarget }) => setFile(currentTarget.files?.[0])}
          />
        )}
      </Field>
      <Action kind="primary" run={install}>
        {t("installNow")}
      </Action>
      {said === undefined ? undefined : (
        <div role="status">
          <p class="good-text">{said.text}</p>
          <Problems problems={said.warnings} />
        </div>
      )}
    </div>
  );
}

async function placeOf(world: PaneWorld, source: string, file: File | undefined): Promise<Omit<Install, "replace">> {
  if (source !== "") return { source };
  if (file === undefined) throw new Error(skillsWords.t("needsSource"));
  const { path } = await world.upload(file, file.name);
  return { source: path, called: file.name };
}

/** Undefined: the reader keeps what is there. */
async function installOrReplace(world: PaneWorld, wanted: Omit<Install, "replace">) {
  const { t } = skillsWords;
  try {
    return await installSkill(world.api, { ...wanted, replace: false });
  } catch (error) {
    if (!isTaken(error)) throw error;
    const question = { title: t("takenTitle"), text: t("takenText"), action: t("replace"), isDangerous: true };
    if ((await world.ask(question)) === undefined) return undefined;
    return await installSkill(world.api, { ...wanted, replace: true });
  }
}

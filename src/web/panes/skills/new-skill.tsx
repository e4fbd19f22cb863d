import { useState } from "preact/hooks";
import { Action } from "../parts/controls.js";
import { TextField } from "../setup/text-field.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import { createSkill } from "./skills.js";
import { skillsWords } from "./words.js";

/** A skill to start from; its text is opened right after. */
export function NewSkill({ world }: { readonly world: PaneWorld }) {
  const { t } = skillsWords;
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const letGo = useUnsaved(world, name !== "" || description !== "");
  const create = async (): Promise<void> => {
    const created = await createSkill(world.api, name.trim(), description);
    letGo();
    world.openPane("skills", created);
  };
  return (
    <div class="card form">
      <TextField label={t("name")} hint={t("nameHint")} value={name} set={setName} />
      <TextField label={t("description")} hint={t("descriptionHint")} value={description} set={setDescription} />
      <Action kind="primary" run={create} isDisabled={name.trim() === ""}>
        {t("create")}
      </Action>
    </div>
  );
}

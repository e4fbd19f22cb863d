import { useState } from "preact/hooks";
import { Action, Field, Switch } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import { TextField } from "../setup/text-field.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import { isChanged, readSkill, removeSkill, type Skill, type SkillFile, switchSkill, writeSkill } from "./skills.js";
import { Problems } from "./skills-pane.js";
import { skillsWords } from "./words.js";

interface EditorProps {
  readonly world: PaneWorld;
  /** As the list has it; undefined: it is not there any more. */
  readonly skill: Skill | undefined;
  readonly onChanged: () => void;
}

/** One skill: its text, and what can be done with it. */
export function SkillEditor({ world, name, skill, onChanged }: EditorProps & { readonly name: string }) {
  const { t } = skillsWords;
  const [round, setRound] = useState(0);
  const file = useLoad(world, async () => ({ ...(await readSkill(world.api, name)), round }), [name, round]);
  return (
    <>
      <button type="button" class="link back" onClick={() => world.openPane("skills")}>
        {t("back")}
      </button>
      <div class="card-line card-head">
        <h2 class="skill-name">{name}</h2>
        {skill === undefined ? undefined : (
          <Switch
            label={t("on")}
            name={t("onFor", { name })}
            isOn={skill.isOn}
            set={(on) => switchSkill(world.api, name, on).then(onChanged)}
          />
        )}
      </div>
      <Problems problems={skill?.problems ?? []} />
      <WhenLoaded loaded={file}>
        {(known) => (
          <>
            <TextOf
              // Of what is there now, not of what is being read.
              key={`${known.round} ${known.mark}`}
              world={world}
              file={known}
              skill={skill}
              onChanged={onChanged}
              loadAgain={() => setRound(round + 1)}
            />
            {skill === undefined ? undefined : <TryIt world={world} skill={skill} />}
          </>
        )}
      </WhenLoaded>
    </>
  );
}

function TextOf({
  world,
  file,
  skill,
  onChanged,
  loadAgain,
}: EditorProps & { readonly file: SkillFile; readonly loadAgain: () => void }) {
  const { t } = skillsWords;
  const [text, setText] = useState(file.text);
  const [stored, setStored] = useState({ text: file.text, mark: file.mark });
  const [said, setSaid] = useState({ text: "", warnings: [] as readonly string[] });
  const [isBehind, setBehind] = useState(false);
  const isDirty = text !== stored.text;
  const letGo = useUnsaved(world, isDirty);
  const save = async (mark: string): Promise<void> => {
    setSaid({ text: "", warnings: [] });
    try {
      const { path, warnings, ...written } = await writeSkill(world.api, { name: file.name, mark }, text);
      setStored({ text, mark: written.mark });
      setBehind(false);
      setSaid({ text: skill?.source === "bundled" ? t("savedCopy", { path }) : t("saved"), warnings });
      onChanged();
    } catch (error) {
      if (!isChanged(error)) throw error;
      setBehind(true);
    }
  };
  const saveAnyway = async (): Promise<void> => save((await readSkill(world.api, file.name)).mark);
  const load = async (): Promise<void> => {
    const question = { title: t("loadTitle"), text: t("loadText"), action: t("loadIt"), isDangerous: true };
    if ((await world.ask(question)) !== undefined) loadAgain();
  };
  const remove = async (): Promise<void> => {
    const { name, path } = file;
    const question = { title: t("deleteTitle", { name }), text: t("deleteText", { path }), action: t("delete") };
    if ((await world.ask({ ...question, isDangerous: true })) === undefined) return;
    await removeSkill(world.api, name);
    letGo();
    world.openPane("skills");
  };
  const isForeign = file.writing === "refused";
  return (
    <div class="form">
      {isForeign ? <p class="note">{t("isForeign", { path: file.path })}</p> : undefined}
      {skill?.source === "bundled" ? <p class="note">{t("isCopied")}</p> : undefined}
      <Field label={t("text", { name: file.name })} hint={t("textHint")}>
        {(ids) => (
          <textarea
            {...ids}
            class="code-area"
            rows={18}
            spellcheck={false}
            readOnly={isForeign}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Field>
      <div class="card-line">
        {isForeign ? undefined : (
          <Action kind="primary" run={() => save(stored.mark)} isDisabled={!isDirty || isBehind}>
            {t("save")}
          </Action>
        )}
        {skill?.source === "workspace" ? (
          <Action kind="danger" run={remove}>
            {t("delete")}
          </Action>
        ) : undefined}
        <span role="status" class={said.text === "" || isDirty ? "muted" : "good-text"}>
          {isDirty ? t("unsaved") : said.text}
        </span>
      </div>
      <Problems problems={said.warnings} />
      {isBehind ? (
        <div class="note warning" role="alert">
          <span>{t("changedMeanwhile")}</span>
          <Action run={load}>{t("loadIt")}</Action>
          <Action run={saveAnyway}>{t("saveAnyway")}</Action>
        </div>
      ) : undefined}
    </div>
  );
}

/** Opens a new chat, whose first message uses the skill. */
function TryIt({ world, skill: { name, isOn } }: { readonly world: PaneWorld; readonly skill: Skill }) {
  const { t } = skillsWords;
  const [text, setText] = useState(t("tryUsual"));
  const start = async (): Promise<void> => world.startChat(`@skill:${name} ${text.trim()}`);
  return (
    <div class="card form">
      <TextField label={t("tryLabel")} hint={isOn ? t("tryHint") : t("tryOff")} value={text} set={setText} />
      <Action run={start} isDisabled={!isOn || text.trim() === ""}>
        {t("tryIt")}
      </Action>
    </div>
  );
}

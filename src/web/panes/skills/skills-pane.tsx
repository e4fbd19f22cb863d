import { useState } from "preact/hooks";
import type { PaneProps } from "../list.js";
import { Switch } from "../parts/controls.js";
import { FormOpener } from "../parts/form-opener.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import { useLookAgain } from "../parts/look-again.js";
import type { PaneWorld } from "../world.js";
import { InstallForm } from "./install-form.js";
import { NewSkill } from "./new-skill.js";
import { SkillEditor } from "./skill-editor.js";
import { readSkills, type Skill, switchSkill } from "./skills.js";
import { skillsWords } from "./words.js";

const lookMs = 4000;

/** What the assistant knows how to do; one of them as text when the address names it. */
export function SkillsPane({ world, argument }: PaneProps) {
  const loaded = useLoad(world, () => readSkills(world.api), [argument]);
  useLookAgain(loaded.look, lookMs);
  return (
    <WhenLoaded loaded={loaded}>
      {({ skills, leftOut }) =>
        argument === "" ? (
          <SkillList world={world} skills={skills} leftOut={leftOut} onChanged={loaded.reload} />
        ) : (
          <SkillEditor
            key={argument}
            world={world}
            name={argument}
            skill={skills.find(({ name }) => name === argument)}
            onChanged={loaded.reload}
          />
        )
      }
    </WhenLoaded>
  );
}

function SkillList({
  world,
  skills,
  leftOut,
  onChanged,
}: {
  readonly world: PaneWorld;
  readonly skills: readonly Skill[];
  readonly leftOut: readonly string[];
  readonly onChanged: () => void;
}) {
  const { t } = skillsWords;
  const [open, setOpen] = useState<"new" | "install">();
  const opener = (which: "new" | "install") => (
    <FormOpener
      world={world}
      isOpen={open === which}
      closes={open !== undefined}
      press={() => setOpen(open === which ? undefined : which)}
    >
      {t(which)}
    </FormOpener>
  );
  return (
    <>
      <div class="card-line">
        {opener("new")}
        {opener("install")}
      </div>
      {open === "new" ? <NewSkill world={world} /> : undefined}
      {open === "install" ? <InstallForm world={world} onInstalled={onChanged} /> : undefined}
      {leftOut.length === 0 ? undefined : (
        <div class="note warning">
          <p>{t("leftOut")}</p>
          <ul class="plain-list">
            {leftOut.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      )}
      {skills.length === 0 ? <p class="muted">{t("none")}</p> : undefined}
      <ul class="cards">
        {skills.map((skill) => (
          <SkillCard key={skill.name} world={world} skill={skill} onChanged={onChanged} />
        ))}
      </ul>
    </>
  );
}

function SkillCard({
  world,
  skill: { name, description, source, isOn, problems },
  onChanged,
}: {
  readonly world: PaneWorld;
  readonly skill: Skill;
  readonly onChanged: () => void;
}) {
  const { t } = skillsWords;
  return (
    <li class="card" aria-label={name}>
      <div class="card-line card-head">
        <h2>{name}</h2>
        <Switch
          label={t("on")}
          name={t("onFor", { name })}
          isOn={isOn}
          set={(on) => switchSkill(world.api, name, on).then(onChanged)}
        />
      </div>
      {description === "" ? undefined : <p>{description}</p>}
      <Problems problems={problems} />
      <div class="card-line">
        <button
          type="button"
          class="button quiet"
          aria-label={t("openNamed", { name })}
          onClick={() => world.openPane("skills", name)}
        >
          {t("open")}
        </button>
        <span class="muted">{t(source)}</span>
      </div>
    </li>
  );
}

export function Problems({ problems }: { readonly problems: readonly string[] }) {
  return (
    <>
      {problems.map((sentence) => (
        <p class="warning-text" key={sentence}>
          {sentence}
        </p>
      ))}
    </>
  );
}

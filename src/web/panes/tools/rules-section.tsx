import { useState } from "preact/hooks";
import { Action, Section } from "../parts/controls.js";
import { FormOpener } from "../parts/form-opener.js";
import type { PolicySectionProps } from "./mode-section.js";
import { type Rule, saveRules } from "./policy.js";
import { RuleForm } from "./rule-form.js";
import { sentenceOf } from "./rule-words.js";
import { toolsWords } from "./words.js";

/** The rules as sentences, in their order. */
export function RulesSection({ world, rules: { rules, problems }, change }: PolicySectionProps) {
  const { t } = toolsWords;
  const [isOpen, setOpen] = useState(false);
  const [said, setSaid] = useState("");
  const save = async (next: readonly Rule[]): Promise<void> => {
    setSaid("");
    await change((mark) => saveRules(world.api, next, mark));
  };
  const add = async (rule: Rule): Promise<void> => {
    await save([...rules, rule]);
    setOpen(false);
    setSaid(t("added"));
  };
  return (
    <Section title={t("rules")} about={t("rulesAbout")}>
      {rules.length === 0 ? <p class="muted">{t("noRules")}</p> : undefined}
      <ol class="cards">
        {rules.map((rule, index) => (
          <li class="card" key={index}>
            <p>{sentenceOf(rule)}</p>
            {problems.has(index) ? (
              <p class="warning-text">{t("never", { problem: problems.get(index) ?? "" })}</p>
            ) : undefined}
            <div class="card-line">
              <Action
                label={t("upOf", { n: index + 1 })}
                run={() => save(swapped(rules, index, index - 1))}
                isDisabled={index === 0}
              >
                {t("up")}
              </Action>
              <Action
                label={t("downOf", { n: index + 1 })}
                run={() => save(swapped(rules, index, index + 1))}
                isDisabled={index === rules.length - 1}
              >
                {t("down")}
              </Action>
              <Action
                label={t("removeOf", { n: index + 1 })}
                kind="danger"
                run={() => save(rules.filter((_, other) => other !== index))}
              >
                {t("remove")}
              </Action>
            </div>
          </li>
        ))}
      </ol>
      <p role="status" class="good-text">
        {said}
      </p>
      <FormOpener world={world} isOpen={isOpen} press={() => setOpen(!isOpen)} isBelow>
        {t("add")}
      </FormOpener>
      {isOpen ? <RuleForm world={world} add={add} /> : undefined}
    </Section>
  );
}

function swapped(rules: readonly Rule[], one: number, other: number): readonly Rule[] {
  const [first, second] = [rules[one], rules[other]];
  if (first === undefined || second === undefined) return rules;
  return rules.map((rule, index) => (index === one ? second : index === other ? first : rule));
}

import { useState } from "preact/hooks";
import { costOf, numberOf } from "../../parts/format.js";
import { Action } from "../parts/controls.js";
import { TextField } from "../setup/text-field.js";
import { PickList } from "./pick-list.js";
import { labelOf, type Model, talkingFirst } from "./providers.js";
import { modelsWords } from "./words.js";

/** One of the models of these providers. `use` gets its label, `provider/model`. */
export function ModelPicker({
  models,
  current,
  action,
  use,
}: {
  readonly models: ReadonlyMap<string, readonly Model[]>;
  readonly current: string;
  readonly action: string;
  readonly use: (label: string) => Promise<unknown>;
}) {
  const { t } = modelsWords;
  const [picked, setPicked] = useState(current);
  const [typed, setTyped] = useState("");
  const items = [...models].flatMap(([provider, list]) =>
    talkingFirst(list).map((model) => {
      const value = labelOf(provider, model.id);
      return { value, label: models.size > 1 ? value : model.id, hint: hintOf(model) };
    }),
  );
  const [first] = models.keys();
  const byName = typed.trim() === "" || first === undefined ? "" : fullLabel(typed.trim(), [...models.keys()], first);
  const wanted = byName || picked;
  return (
    <div class="form">
      <PickList label={t("choose")} items={items} value={byName === "" ? picked : ""} pick={setPicked} />
      <TextField label={t("byName")} value={typed} set={setTyped} />
      <Action kind="primary" run={() => use(wanted)} isDisabled={wanted === ""}>
        {action}
      </Action>
    </div>
  );
}

function fullLabel(typed: string, providers: readonly string[], first: string): string {
  return providers.some((name) => typed.startsWith(`${name}/`)) ? typed : labelOf(first, typed);
}

function hintOf({ price, contextWindow }: Model): string | undefined {
  const { t } = modelsWords;
  const cost =
    price === undefined
      ? undefined
      : price.input === 0 && price.output === 0
        ? t("free")
        : t("price", { input: costOf(price.input), output: costOf(price.output) });
  const context = contextWindow === undefined ? undefined : t("context", { n: numberOf(contextWindow) });
  return [cost, context].filter((part) => part !== undefined).join(" · ") || undefined;
}

import { useId, useState } from "preact/hooks";
import { Field } from "../parts/controls.js";
import { modelsWords } from "./words.js";

export interface PickItem {
  readonly value: string;
  readonly label: string;
  readonly hint?: string | undefined;
}

/** So many are drawn at once; anyone who wants another one searches. */
const mostShown = 60;

/** One of many, with a search once there are more than a few. Arrow keys move the choice. */
export function PickList({
  label,
  items,
  value,
  pick,
}: {
  readonly label: string;
  readonly items: readonly PickItem[];
  readonly value: string;
  readonly pick: (value: string) => void;
}) {
  const name = useId();
  const [wanted, setWanted] = useState("");
  const words = wanted.toLowerCase().split(/\s+/);
  const found = items.filter((item) => words.every((word) => item.label.toLowerCase().includes(word)));
  return (
    <fieldset class="pick">
      <legend>{label}</legend>
      {items.length > 6 ? (
        <Field label={modelsWords.t("search")}>
          {(ids) => (
            <input
              {...ids}
              type="search"
              autocomplete="off"
              value={wanted}
              onInput={({ currentTarget }) => setWanted(currentTarget.value)}
            />
          )}
        </Field>
      ) : undefined}
      <div class="pick-items">
        {found.slice(0, mostShown).map((item) => (
          <label class="pick-item" key={item.value}>
            <input type="radio" name={name} checked={item.value === value} onChange={() => pick(item.value)} />
            <span class="pick-label">{item.label}</span>
            {item.hint === undefined ? undefined : <span class="muted pick-hint">{item.hint}</span>}
          </label>
        ))}
        {found.length === 0 ? <p class="muted">{modelsWords.t("none")}</p> : undefined}
      </div>
    </fieldset>
  );
}

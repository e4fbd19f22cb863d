import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { sentenceOf } from "../../failures/said.js";
import { partWords } from "./words.js";

/** A button for work that takes time: it says so meanwhile, takes no second press, and shows beside itself what went wrong. */
export function Action({
  run,
  children,
  label,
  kind = "quiet",
  isDisabled = false,
}: {
  readonly run: () => Promise<unknown>;
  /** For screen readers, where the text alone does not say what is meant. */
  readonly label?: string | undefined;
  readonly children: ComponentChildren;
  readonly kind?: "primary" | "quiet" | "danger";
  readonly isDisabled?: boolean;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const press = (): void => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    run()
      .catch((error: unknown) => setProblem(sentenceOf(error)))
      .finally(() => setBusy(false));
  };
  return (
    <span class="action">
      <button
        type="button"
        class={`button ${kind}`}
        aria-label={label}
        // Disabled, it would lose the focus.
        aria-disabled={isBusy}
        disabled={isDisabled}
        onClick={press}
      >
        {isBusy ? partWords.t("working") : children}
      </button>
      {problem === undefined ? undefined : (
        <span class="problem-text" role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}

/** A part of a pane with a heading. */
export function Section({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="pane-section">
      <h2>{title}</h2>
      {about === undefined ? undefined : <p class="muted">{about}</p>}
      {children}
    </section>
  );
}

/** A label with its control. `children` gets the id that ties them together, and the id of what describes it. */
export function Field({
  label,
  hint,
  problem,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  readonly children: (ids: { readonly id: string; readonly "aria-describedby": string }) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}-hint` })}
      <p id={`${id}-hint`} class={problem === undefined ? "field-hint" : "problem-text"}>
        {problem ?? hint}
      </p>
    </div>
  );
}

/** On or off. `set` resolves once it counts; until then it shows what was asked for. */
export function Switch({
  label,
  name,
  isOn,
  set,
}: {
  readonly label: string;
  /** For screen readers, where the label alone does not say what is on. */
  readonly name?: string | undefined;
  readonly isOn: boolean;
  readonly set: (isOn: boolean) => Promise<unknown>;
}) {
  const [wanted, setWanted] = useState<boolean>();
  const [problem, setProblem] = useState<string>();
  const change = (isWanted: boolean): void => {
    setWanted(isWanted);
    setProblem(undefined);
    set(isWanted)
      .catch((error: unknown) => setProblem(sentenceOf(error)))
      .finally(() => setWanted(undefined));
  };
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        aria-label={name}
        checked={wanted ?? isOn}
        aria-checked={wanted ?? isOn}
        aria-disabled={wanted !== undefined}
        onClick={(event) => {
          if (wanted !== undefined) event.preventDefault();
        }}
        onChange={({ currentTarget }) => change(currentTarget.checked)}
      />
      <span>{label}</span>
      {problem === undefined ? undefined : (
        <span class="problem-text" role="alert">
          {problem}
        </span>
      )}
    </label>
  );
}

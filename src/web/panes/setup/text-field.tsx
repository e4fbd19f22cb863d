import { Field } from "../parts/controls.js";

/** A line of text: what the assistant is set up with, which no browser should remember. */
export function TextField({
  label,
  hint,
  value,
  set,
  isSecret = false,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly isSecret?: boolean;
}) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => {
        const own = { ...ids, value, autocomplete: "off", spellcheck: false };
        const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void =>
          set(currentTarget.value);
        return isSecret ? (
          <input {...own} type="password" onInput={onInput} />
        ) : (
          <input {...own} type="text" onInput={onInput} />
        );
      }}
    </Field>
  );
}

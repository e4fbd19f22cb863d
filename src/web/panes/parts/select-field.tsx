import { Field } from "./controls.js";

/** One of a few, in a list that opens. */
export function SelectField<T extends string>({
  label,
  hint,
  options,
  value,
  set,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly set: (value: T) => void;
}) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select
          {...ids}
          value={value}
          onChange={({ currentTarget }) => {
            const chosen = options.find((option) => option.value === currentTarget.value);
            if (chosen !== undefined) set(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

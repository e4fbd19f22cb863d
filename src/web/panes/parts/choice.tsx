import { useId } from "preact/hooks";

/** One of a few, side by side. */
export function Choice<T extends string>({
  label,
  options,
  chosen,
  choose,
}: {
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly chosen: string;
  readonly choose: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset class="one-of">
      <legend class="off-screen">{label}</legend>
      {options.map((option) => (
        <label key={option.value} class="one-of-option">
          <input
            type="radio"
            class="off-screen"
            name={name}
            value={option.value}
            checked={option.value === chosen}
            onChange={() => choose(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

import { TextField } from "../setup/text-field.js";
import type { SecretEntry } from "./servers.js";
import { mcpWords } from "./words.js";

/** Names with secret values. A value that is stored is never shown. */
export function SecretFields({
  label,
  hint,
  secrets,
  set,
}: {
  readonly label: string;
  readonly hint: string;
  readonly secrets: readonly SecretEntry[];
  readonly set: (secrets: readonly SecretEntry[]) => void;
}) {
  const { t } = mcpWords;
  const change = (index: number, entry: Partial<SecretEntry>): void =>
    set(secrets.map((one, other) => (other === index ? { ...one, ...entry } : one)));
  return (
    <fieldset class="secrets">
      <legend>{label}</legend>
      <p class="field-hint">{hint}</p>
      {secrets.map(({ name, value, isStored }, index) => (
        <div class="secret" key={index}>
          {isStored ? (
            <p class="secret-name">{name}</p>
          ) : (
            <TextField
              label={t("secretNameOf", { n: index + 1 })}
              value={name}
              set={(text) => change(index, { name: text })}
            />
          )}
          <TextField
            label={name === "" ? t("secretValue") : t("secretValueOf", { name })}
            hint={isStored ? t("secretKept") : undefined}
            value={value}
            set={(text) => change(index, { value: text })}
            isSecret
          />
          <button type="button" class="button quiet" onClick={() => set(secrets.filter((_, other) => other !== index))}>
            {t("removeSecret", { name: name === "" ? String(index + 1) : name })}
          </button>
        </div>
      ))}
      <button
        type="button"
        class="button quiet add"
        onClick={() => set([...secrets, { name: "", value: "", isStored: false }])}
      >
        {t("addSecret")}
      </button>
    </fieldset>
  );
}

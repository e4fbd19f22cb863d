import type { ComponentChildren } from "preact";
import { WhenLoaded } from "../parts/loading.js";
import type { AllSettings } from "./all-settings.js";
import { fieldWords } from "./fields/words.js";
import { placeOf } from "./groups.js";
import type { Settings } from "./use-settings.js";

const { t } = fieldWords;

/** The children, once the file can be read; above them what is to be known about it. */
export function WithSettings({
  settings: { loaded },
  children,
}: {
  readonly settings: Settings;
  readonly children: (all: AllSettings) => ComponentChildren;
}) {
  return (
    <WhenLoaded loaded={loaded}>
      {(all) => (
        <>
          {all.fault === undefined ? undefined : <Broken all={all} fault={all.fault} lookAgain={loaded.reload} />}
          {all.fault === undefined && all.file.isReadOnly ? (
            <p class="note warning">{t("readOnly", { path: all.file.path })}</p>
          ) : undefined}
          {all.restart.length === 0 ? undefined : (
            <p class="note warning" role="status">
              {t("restartDue", { names: dueIn(all).join(" · ") })}
            </p>
          )}
          {all.fault === undefined ? children(all) : undefined}
        </>
      )}
    </WhenLoaded>
  );
}

/** What waits for a restart, as people call it. */
function dueIn({ restart, settings }: AllSettings): readonly string[] {
  return restart.flatMap((name) => {
    const own = settings.filter((setting) => setting.name === name || name.startsWith(`${setting.name}.`));
    return own.length === 0 ? [name] : own.map(placeOf);
  });
}

function Broken({
  all,
  fault: { line, column, message },
  lookAgain,
}: {
  readonly all: AllSettings;
  readonly fault: NonNullable<AllSettings["fault"]>;
  readonly lookAgain: () => void;
}) {
  const { path } = all.file;
  return (
    <div class="note danger" role="alert">
      <span>
        {line === undefined
          ? t("brokenPlain", { path, message })
          : t("broken", { path, message, line, column: column ?? 1 })}
      </span>
      <button type="button" class="link" onClick={lookAgain}>
        {t("lookAgain")}
      </button>
    </div>
  );
}

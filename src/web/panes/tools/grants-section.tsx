import { momentOf } from "../../parts/format.js";
import { Action, Section } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { type Grant, readGrants, revokeGrant } from "./policy.js";
import { toolsWords } from "./words.js";

/** What people have allowed for always. */
export function GrantsSection({ world }: { readonly world: PaneWorld }) {
  const { t } = toolsWords;
  const loaded = useLoad(world, () => readGrants(world.api), []);
  return (
    <Section title={t("granted")} about={t("grantedAbout")}>
      <WhenLoaded loaded={loaded}>
        {(grants) =>
          grants.length === 0 ? (
            <p class="muted">{t("noneGranted")}</p>
          ) : (
            <ul class="cards">
              {grants.map((grant) => (
                <GrantCard
                  key={grant.id}
                  grant={grant}
                  revoke={() => revokeGrant(world.api, grant.id).then(loaded.reload)}
                />
              ))}
            </ul>
          )
        }
      </WhenLoaded>
    </Section>
  );
}

function GrantCard({
  grant: { tool, argument, chat, whose, by, at, isOld },
  revoke,
}: {
  readonly grant: Grant;
  readonly revoke: () => Promise<void>;
}) {
  const { t } = toolsWords;
  const line = { whose: personOf(whose), chat, by: personOf(by), at: momentOf(new Date(at)) };
  return (
    <li class="card" aria-label={`${tool} ${argument}`}>
      <h3>{tool}</h3>
      <p>
        <code>{argument}</code>
      </p>
      <p class="muted">{isOld ? t("grantOld") : t("grantedLine", line)}</p>
      <div class="card-line">
        <Action kind="danger" label={t("revokeOf", { tool })} run={revoke}>
          {t("revoke")}
        </Action>
      </div>
    </li>
  );
}

/** Who writes on the page is its reader. */
function personOf(sender: string): string {
  return /^(?:webui|client|cli)(?::|$)/.test(sender) || sender === "owner" ? toolsWords.t("you") : sender;
}

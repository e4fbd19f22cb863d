import { useState } from "preact/hooks";
import type { PaneProps } from "../list.js";
import { FormOpener } from "../parts/form-opener.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import { useLookAgain } from "../parts/look-again.js";
import { ServerCard } from "./server-card.js";
import { ServerForm } from "./server-form.js";
import { readServers } from "./servers.js";
import { mcpWords } from "./words.js";

const lookMs = 4000;

/** The servers that offer tools, how each is, and what it has. */
export function McpPane({ world }: PaneProps) {
  const { t } = mcpWords;
  const loaded = useLoad(world, () => readServers(world.api), []);
  useLookAgain(loaded.look, lookMs);
  const [isOpen, setOpen] = useState(false);
  const [said, setSaid] = useState("");
  const changed = (): void => {
    setSaid("");
    loaded.reload();
  };
  const added = (text: string): void => {
    setOpen(false);
    setSaid(text);
    loaded.reload();
  };
  return (
    <>
      <div class="card-line">
        <FormOpener world={world} isOpen={isOpen} press={() => setOpen(!isOpen)}>
          {t("add")}
        </FormOpener>
        <span role="status" class="good-text">
          {said}
        </span>
      </div>
      {isOpen ? (
        <div class="card">
          <ServerForm world={world} mark="" onSaved={added} />
        </div>
      ) : undefined}
      <WhenLoaded loaded={loaded}>
        {({ servers, mark }) =>
          servers.length === 0 ? (
            <p class="muted">{t("none")}</p>
          ) : (
            <ul class="cards">
              {servers.map((server) => (
                <ServerCard key={server.name} world={world} server={server} mark={mark} onChanged={changed} />
              ))}
            </ul>
          )
        }
      </WhenLoaded>
    </>
  );
}

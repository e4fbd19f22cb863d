import { useState } from "preact/hooks";
import { Section, Switch } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { readTools, switchTool, type ToolView } from "./policy.js";
import { toolsWords } from "./words.js";

/** The tools that the model has. */
export function ToolsSection({ world }: { readonly world: PaneWorld }) {
  const { t } = toolsWords;
  const loaded = useLoad(world, () => readTools(world.api), []);
  return (
    <Section title={t("tools")} about={t("toolsAbout")}>
      <WhenLoaded loaded={loaded}>
        {(tools) => (
          <ul class="rows">
            {tools.map((tool) => (
              <ToolRow key={tool.name} world={world} tool={tool} onChanged={loaded.reload} />
            ))}
          </ul>
        )}
      </WhenLoaded>
    </Section>
  );
}

function ToolRow({
  world,
  tool: { name, description, isOn, canSwitch },
  onChanged,
}: {
  readonly world: PaneWorld;
  readonly tool: ToolView;
  readonly onChanged: () => void;
}) {
  const { t } = toolsWords;
  const [waits, setWaits] = useState(false);
  const change = async (on: boolean): Promise<void> => {
    setWaits(await switchTool(world.api, name, on));
    onChanged();
  };
  return (
    <li class="row" aria-label={name}>
      <div class="row-text">
        <h3>{name}</h3>
        <p class="muted">{description}</p>
        {waits ? (
          <p class="warning-text" role="status">
            {t("restart")}
          </p>
        ) : undefined}
      </div>
      {canSwitch ? <Switch label={t("on")} name={t("onFor", { name })} isOn={isOn} set={change} /> : undefined}
    </li>
  );
}

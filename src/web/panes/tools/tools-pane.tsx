import { useState } from "preact/hooks";
import type { PaneProps } from "../list.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { GrantsSection } from "./grants-section.js";
import { ModeSection } from "./mode-section.js";
import { isChanged, type Rules, readRules } from "./policy.js";
import { RulesSection } from "./rules-section.js";
import { ToolsSection } from "./tools-section.js";
import { TrialSection } from "./trial-section.js";
import { toolsWords } from "./words.js";

/** What the assistant may do: the mode, rules, what was always allowed, and its tools. */
export function ToolsPane({ world }: PaneProps) {
  const loaded = useLoad(world, () => readRules(world.api), []);
  return (
    <>
      <WhenLoaded loaded={loaded}>{(rules) => <Policy world={world} read={rules} />}</WhenLoaded>
      <GrantsSection world={world} />
      <ToolsSection world={world} />
    </>
  );
}

function Policy({ world, read }: { readonly world: PaneWorld; readonly read: Rules }) {
  const [rules, setRules] = useState(read);
  /** Writes, and shows what is in force then. */
  const change = async (write: (mark: string) => Promise<Rules>): Promise<void> => {
    try {
      setRules(await write(rules.mark));
      world.refreshStatus();
    } catch (error) {
      if (!isChanged(error)) throw error;
      setRules(await readRules(world.api));
      throw new Error(toolsWords.t("changedMeanwhile"));
    }
  };
  return (
    <>
      <ModeSection world={world} rules={rules} change={change} />
      <RulesSection world={world} rules={rules} change={change} />
      <TrialSection world={world} />
    </>
  );
}

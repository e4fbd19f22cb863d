import type { PaneProps } from "../list.js";
import { FactList } from "./fact-list.js";
import { FileEditor } from "./file-editor.js";
import { FileList } from "./file-list.js";

/** What the assistant knows about its owner: the facts, and the files they and all else are in. */
export function MemoryPane({ world, argument }: PaneProps) {
  if (argument !== "") return <FileEditor key={argument} world={world} name={argument} />;
  return (
    <>
      <FactList world={world} />
      <FileList world={world} />
    </>
  );
}

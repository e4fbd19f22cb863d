import { useLayoutEffect, useRef } from "preact/hooks";
import type { PaneWorld } from "./world.js";

/** Keeps what is typed here from going without a question. The result says that it may go now. */
export function useUnsaved(world: PaneWorld, isDirty: boolean): () => void {
  const release = useRef<() => void>(() => undefined);
  useLayoutEffect(() => {
    if (!isDirty) return;
    release.current = world.unsaved.hold();
    return () => release.current();
  }, [world, isDirty]);
  return () => release.current();
}

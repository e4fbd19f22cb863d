import { useEffect, useState } from "preact/hooks";
import type { Known, Store } from "../../store.js";

/** A part of what the page knows, drawn again with each change. It may have changed since it was drawn first: effects come later. */
export function useKnown<K extends keyof Known>(store: Store, part: K): Known[K] {
  const [value, setValue] = useState(store.known[part]);
  useEffect(() => {
    const show = (): void => setValue(() => store.known[part]);
    show();
    return store.watch([part], show);
  }, [store, part]);
  return value;
}

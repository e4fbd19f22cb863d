import { useEffect } from "preact/hooks";

/**
 * Calls `look` now and then while the reader sees the page, and at once when they come back to it. Without a time it
 * does not.
 */
export function useLookAgain(look: () => void, everyMs: number | undefined): void {
  useEffect(() => {
    if (everyMs === undefined) return;
    const again = (): void => {
      if (!document.hidden) look();
    };
    const timer = setInterval(again, everyMs);
    document.addEventListener("visibilitychange", again);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
    };
  }, [look, everyMs]);
}

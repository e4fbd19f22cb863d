import { useEffect } from "preact/hooks";

/** Calls `look` now and then while the reader sees the page, and at once when they come back to it. */
export function useLookAgain(look: () => void, everyMs: number): void {
  useEffect(() => {
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

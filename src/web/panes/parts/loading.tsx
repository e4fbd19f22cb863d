import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { sentenceOf } from "../../failures/said.js";
import { NoAnswer, Unauthorized } from "../../gateway/api.js";
import type { PaneWorld } from "../world.js";
import { partWords } from "./words.js";

export function Loading() {
  return (
    <p class="muted loading" role="status">
      {partWords.t("loading")}
    </p>
  );
}

/** What went wrong, in the gateway's own words, and a way to try again. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  return (
    <div class="note danger" role="alert">
      <span>{sentenceOf(error)}</span>
      {retry === undefined ? undefined : (
        <button type="button" class="link" onClick={retry}>
          {partWords.t("retry")}
        </button>
      )}
    </div>
  );
}

export interface Loaded<T> {
  /** The last that was read; stays while it is read again. */
  readonly value: T | undefined;
  readonly error: unknown;
  reload(): void;
  /** The same from time to time: not while it is being read, as what is asked for too often would never be there. */
  look(): void;
}

/** Reads when the pane is opened, again when one of `dependencies` is another, and when `reload` is called. `first` is there before. */
export function useLoad<T>(
  world: Pick<PaneWorld, "failed" | "store">,
  read: () => Promise<T>,
  dependencies: readonly unknown[],
  first?: T,
): Loaded<T> {
  const [state, setState] = useState<{ readonly value: T | undefined; readonly error: unknown }>({
    value: first,
    error: undefined,
  });
  const [round, setRound] = useState(0);
  const isReading = useRef(false);
  useEffect(() => {
    let isCurrent = true;
    isReading.current = true;
    let isUnanswered = false;
    let isBack = false;
    const again = (): void => setRound((n) => n + 1);
    // What could not be asked is asked again once the connection is back; it may be back before that is known here.
    const unwatch = world.store.watch(["nextAttemptAt"], ({ nextAttemptAt }) => {
      isBack = nextAttemptAt === undefined;
      if (isBack && isUnanswered) again();
    });
    read().then(
      (value) => {
        if (!isCurrent) return;
        isReading.current = false;
        setState({ value, error: undefined });
      },
      (error: unknown) => {
        if (!isCurrent) return;
        isReading.current = false;
        if (error instanceof Unauthorized) world.failed(error);
        setState(({ value }) => ({ value, error }));
        isUnanswered = error instanceof NoAnswer;
        if (isBack && isUnanswered) again();
      },
    );
    return () => {
      isCurrent = false;
      unwatch();
    };
  }, [...dependencies, round]);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  const look = useCallback(() => {
    if (!isReading.current) reload();
  }, []);
  return { ...state, reload, look };
}

/** The children once there is something to show; before it that it loads, or why it cannot be read. */
export function WhenLoaded<T>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  return (
    <>
      {loaded.error === undefined ? undefined : <Problem error={loaded.error} retry={loaded.reload} />}
      {loaded.value === undefined ? loaded.error === undefined && <Loading /> : children(loaded.value)}
    </>
  );
}

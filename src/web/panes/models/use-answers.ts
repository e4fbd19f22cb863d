import { useCallback, useEffect, useState } from "preact/hooks";
import type { Api } from "../../gateway/api.js";
import { type Model, modelsOf } from "./providers.js";

/** What a provider said when it was asked for its models. */
export interface Answer {
  readonly models?: readonly Model[];
  readonly error?: unknown;
}

type Answers = ReadonlyMap<string, Answer>;

/** Asks each of these providers once, all at the same time. `put` is for what was found out otherwise. */
export function useAnswers(api: Api, names: readonly string[]) {
  const [answers, setAnswers] = useState<Answers>(new Map());
  const put = useCallback(
    (name: string, answer: Answer) => setAnswers((before) => new Map(before).set(name, answer)),
    [],
  );
  const key = names.join("\n");
  useEffect(() => {
    let isCurrent = true;
    for (const name of key === "" ? [] : key.split("\n")) {
      modelsOf(api, { name, apiKey: "", apiBase: "" }).then(
        (models) => isCurrent && put(name, { models }),
        (error: unknown) => isCurrent && put(name, { error }),
      );
    }
    return () => {
      isCurrent = false;
    };
  }, [api, key, put]);
  return { answers, put };
}

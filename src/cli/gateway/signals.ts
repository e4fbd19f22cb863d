const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type StopSignal = keyof typeof numbers;

/** Resolves with the first signal to stop. A second one ends the process at once, with 128 + its number. */
export function stopSignals(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (signal: StopSignal): void => {
      if (isStopping) process.exit(128 + numbers[signal]);
      isStopping = true;
      resolve(signal);
    };
    for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.on(signal, () => onSignal(signal));
  });
}

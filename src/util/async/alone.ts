/** Does something while nobody else who shares it does. Rejects when that cannot be had. */
export type Alone = <T>(work: () => Promise<T>) => Promise<T>;

/** Where nobody else is. */
export const alreadyAlone: Alone = (work) => work();

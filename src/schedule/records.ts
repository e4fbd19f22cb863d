/** Small durable facts by id. */
export interface ScheduleRecords {
  get(id: string): unknown;
  put(id: string, value: unknown): Promise<void>;
  delete(id: string): Promise<void>;
  /** One step, whatever other nodes do: `change` gets the stored value and only computes. Undefined: none. Resolves with what is stored. */
  update(id: string, change: (value: unknown) => unknown): Promise<unknown>;
  list(): readonly { readonly id: string; readonly value: unknown }[];
}

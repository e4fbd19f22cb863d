/** Small durable facts by id. */
export interface ScheduleRecords {
  get(id: string): unknown;
  put(id: string, value: unknown): Promise<void>;
  delete(id: string): Promise<void>;
  list(): readonly { readonly id: string; readonly value: unknown }[];
}

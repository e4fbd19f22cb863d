import type { z } from "zod";
import { checked, WrongInput } from "../api/commands/checked.js";
import { type CommandName, followParams } from "../api/commands/command-params.js";
import type { CommandResults, CommandsApi } from "../api/commands/commands-api.js";

/**
 * Runs a command. What is wrong with its fields is told by the names that the client calls them.
 *
 * @throws {RequestError} as {@link CommandsApi.request}
 */
export async function ask<T extends CommandName>(
  api: CommandsApi,
  command: T,
  params: unknown,
  nameOf: (field: string) => string,
): Promise<CommandResults[T]> {
  try {
    return await api.request(command, params);
  } catch (error) {
    throw error instanceof WrongInput ? error.inNamesOf(nameOf) : error;
  }
}

/** What a client said that wants to follow a session. @throws {WrongInput} 400, naming the field in snake_case */
export function followed(params: unknown): z.output<typeof followParams> {
  try {
    return checked(params, followParams);
  } catch (error) {
    throw error instanceof WrongInput ? error.inNamesOf(toSnake) : error;
  }
}

/** `sessionKey` → `session_key` */
export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A frame's fields by the names that the commands know. What is not in snake_case is not known. */
export function fromSnake(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const known = Object.entries(fields).filter(([name]) => !/[A-Z]/.test(name));
  return Object.fromEntries(
    known.map(([name, value]) => [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), value]),
  );
}

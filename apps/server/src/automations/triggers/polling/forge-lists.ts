import { AppError } from '@belay/protocol';
import type { z } from 'zod';
import type { Forge } from '../../forges/forge.js';
import type { ForgeReader } from '../../forges/forge-polling.js';

/** The raw lists of a repository, which every kind of host has. */
export function readerOf(forge: Forge): Pick<ForgeReader, 'get'> {
  if (isReader(forge)) return forge;
  throw new AppError('invalid_input', `${forge.host} has no lists to poll.`);
}

const isReader = (forge: Forge): forge is Forge & ForgeReader =>
  'get' in forge && typeof forge.get === 'function';

/** The items of a list that are of the documented form: one that is not must not hide the others. */
export function itemsOf<T extends z.ZodType>(body: unknown, item: T): z.output<T>[] {
  if (!Array.isArray(body)) return [];
  return body.flatMap((each: unknown) => {
    const { success, data } = item.safeParse(each);
    return success ? [data] : [];
  });
}

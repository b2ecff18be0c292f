import { randomBytes } from 'node:crypto';
import { isNameTaken } from './errors.js';

/** Retries with another name, because a container that is being removed, or another server’s, may have this one. */
export async function otherNameIfTaken<T>(
  name: string,
  use: (name: string) => Promise<T>,
): Promise<T> {
  try {
    return await use(name);
  } catch (error) {
    if (!isNameTaken(error)) throw error;
    return use(`${name}-${randomBytes(3).toString('hex')}`);
  }
}

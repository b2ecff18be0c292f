import { randomBytes } from 'node:crypto';
import { isNameTaken } from './errors.js';

/** The same name may belong to a container that is just being removed, or to another server’s. */
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

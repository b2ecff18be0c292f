import { AppError } from '@belay/protocol';
import { z } from 'zod';

/** Empty variables count as unset, as compose files and shells write them. */
export const blankIsUnset = (value: unknown): unknown => (value === '' ? undefined : value);

export const text = z.preprocess(blankIsUnset, z.string().optional());

export const commaSeparated = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

export const faulty = (fault: string): AppError =>
  new AppError('invalid_input', `The environment cannot be read. ${fault}.`);

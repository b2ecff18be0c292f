import { AppError } from '@belay/protocol';

export const mayNotMake = (): AppError =>
  new AppError('unauthorized', 'Your rights ended meanwhile, so no token was made. Log in again.');

export const madeByIt = (): AppError =>
  new AppError(
    'conflict',
    'Your token was made with this one, and ends with it. Rotate it with another token, or with itself.',
  );

export const noToken = (id: string): AppError =>
  new AppError('not_found', `There is no token ${id}. List them: belay tokens`);

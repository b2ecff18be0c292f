import { AppError, ownValue } from '@belay/protocol';

/** The wanted values by name, where null stands for the saved one. Throws `invalid_input` if that was never saved. */
export const keptSecrets = (
  wanted: Readonly<Record<string, string | null>>,
  saved: Readonly<Record<string, string>> = {},
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(wanted).map(([name, value]) => {
      const secret = value ?? ownValue(saved, name);
      if (secret === undefined) throw new AppError('invalid_input', `${name} has no value yet.`);
      return [name, secret];
    }),
  );

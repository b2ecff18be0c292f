/** One secret, such as a header or a variable. Saved values are not sent to the page; null keeps the saved value. */
export interface SecretField {
  name: string;
  value: string | null;
}

/** The fields of saved secrets, by their names. */
export const savedSecrets = (names: readonly string[]): SecretField[] =>
  names.map((name) => ({ name, value: null }));

/** The secrets as routes take them; fields without a name are left out. */
export const secretsIn = (fields: readonly SecretField[]): Record<string, string | null> =>
  Object.fromEntries(
    fields.map(({ name, value }) => [name.trim(), value] as const).filter(([name]) => name),
  );

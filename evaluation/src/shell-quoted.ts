/** One word of a shell, whatever it contains. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

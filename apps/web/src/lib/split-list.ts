/** The entries of a list that is separated by spaces or commas. */
export const splitList = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

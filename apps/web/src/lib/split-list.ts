/** Splits a list separated by spaces or commas. */
export const splitList = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

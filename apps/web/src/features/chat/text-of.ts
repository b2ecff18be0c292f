/** A field of an event's args as text; empty when it is something else. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

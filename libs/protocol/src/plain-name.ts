/** A name without the case and the separators in which models confuse names. */
export const plainName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

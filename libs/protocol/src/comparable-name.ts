/** A name without the case and the separators in which models confuse names. */
export const comparableName = (name: string): string =>
  name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

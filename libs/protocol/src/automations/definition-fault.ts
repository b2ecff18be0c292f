/** Something that is wrong with a definition, and where. */
export interface DefinitionFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** It is about the key, and not about its value. */
  readonly ofKey?: true;
}

/** As messages name a place, such as `out.pullRequest.paths[0]`. */
export const faultPath = (path: readonly (string | number)[]): string =>
  path
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at > 0 ? '.' : ''}${key}`))
    .join('');
